// A timeline with pages and events: reads the first page, then applies the events after it. After a gap it is read again.
import { useEffect, useRef, useState } from 'react';
import { useClient, type AnyVariables, type Client, type TypedDocumentNode } from 'urql';
import { SESSION_ENDED } from '../api/client.ts';
import { useEvents } from '../api/useEvents.ts';
import { endSession } from '../session/store.ts';
import { useSession } from '../session/useSession.ts';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';
import { gapText, noticeOf } from './gaps.ts';
import { useRows, type Entry } from './useRows.ts';

export interface FirstPage {
  syncCursor: string;
  entries: { edges: readonly { node: Entry }[] };
}

interface Feed<Data, Variables extends AnyVariables> {
  document: TypedDocumentNode<Data, Variables>;
  variables: Variables;
  readFirst: (client: Client) => Promise<FirstPage | null>;
  eventOf: (data: Data) => TimelineEventFragment;
  // Whether an edited status belongs to this timeline now. Without it, edits add and remove nothing.
  belongs?: (status: StatusCardFragment) => boolean;
}

// Another key, or another session, begins with an empty list. Null means that there is nothing to follow.
export function useFeed<Data, Variables extends AnyVariables>(key: string | null, { document, variables, readFirst, eventOf, belongs }: Feed<Data, Variables>) {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const rows = useRows(belongs);
  // A page that arrives after its account has logged out, or for another key, is ignored.
  const begun = `${key} ${token}`;
  const current = useRef(begun);
  current.current = begun;
  const [gap, setGap] = useState<string | null>(null);
  useEffect(() => {
    setGap(null);
    rows.replace([]);
  }, [begun]);

  const following = useEvents(key, {
    document,
    variables,
    asViewer: true,
    async read() {
      const page = await readFirst(client);
      if (!page) throw new Error('no timeline');
      if (current.current === begun) rows.replace(page.entries.edges.map(({ node }) => node));
      return page.syncCursor;
    },
    onData: (data) => rows.enqueue(eventOf(data)),
    onGap: (reason) => setGap(noticeOf(gapText(reason))),
    // The socket may report the end of the session before a request does.
    onState: ({ phase }) => void (phase === 'login' && token && endSession(token, SESSION_ENDED)),
  });
  return { ...following, ...rows, gap };
}
