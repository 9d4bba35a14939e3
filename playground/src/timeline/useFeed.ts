// A timeline with pages and events: reads the first page, then applies the events after it. After a gap it is read again. Older pages are read on request.
import { useEffect, useRef, useState } from 'react';
import { useClient, type AnyVariables, type Client, type TypedDocumentNode } from 'urql';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { useEvents } from '../api/useEvents.ts';
import { endRefusedSession } from '../session/store.ts';
import { useSession } from '../session/useSession.ts';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';
import { gapText, noticeOf } from './gaps.ts';
import { MAX_ROWS } from './rows.ts';
import { useRows, type Entry } from './useRows.ts';

export interface FeedPage {
  syncCursor: string;
  entries: { edges: readonly { node: Entry }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
}

interface Feed<Data, Variables extends AnyVariables> {
  document: TypedDocumentNode<Data, Variables>;
  variables: Variables;
  readPage: (client: Client, after: string | null) => Promise<FeedPage | null>;
  eventOf: (data: Data) => TimelineEventFragment;
  // Whether an edited status belongs to this timeline now. Without it, edits add and remove nothing.
  belongs?: (status: StatusCardFragment) => boolean;
}

// Another key, or another session, begins with an empty list. Null means that there is nothing to follow.
export function useFeed<Data, Variables extends AnyVariables>(key: string | null, { document, variables, readPage, eventOf, belongs }: Feed<Data, Variables>) {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const rows = useRows(belongs);
  // A page that arrives after its account has logged out, or for another key, is ignored.
  const begun = `${key} ${token}`;
  const current = useRef(begun);
  current.current = begun;
  const [gap, setGap] = useState<string | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [olderError, setOlderError] = useState('');
  // Counts the first pages: an older page that arrives after another one is ignored.
  const reading = useRef(0);
  // Beyond it the oldest rows are dropped, and an older page would leave a hole.
  const isFull = rows.rows.length >= MAX_ROWS;
  useEffect(() => void (isFull && setNext(null)), [isFull]);
  useEffect(() => {
    reading.current++;
    setGap(null);
    setNext(null);
    setOlderError('');
    rows.replace([]);
  }, [begun]);

  const following = useEvents(key, {
    document,
    variables,
    asViewer: true,
    async read() {
      const page = await readPage(client, null);
      if (!page) throw new Error('no timeline');
      if (current.current === begun) {
        reading.current++;
        rows.replace(page.entries.edges.map(({ node }) => node));
        setNext(nextOf(page));
      }
      return page.syncCursor;
    },
    onData: (data) => rows.enqueue(eventOf(data)),
    onGap: (reason) => setGap(noticeOf(gapText(reason))),
    // The socket may report the end of the session before a request does.
    onState: ({ phase }) => void (phase === 'login' && token && endRefusedSession(token)),
  });
  const readOlder = async () => {
    const at = reading.current;
    const page = await readPage(client, next).catch((errors: ErrorMessage[]) => void setOlderError(messageOf(errors)));
    if (!page || at !== reading.current) return;
    setOlderError('');
    rows.append(page.entries.edges.map(({ node }) => node));
    setNext(nextOf(page));
  };
  return { ...following, ...rows, gap, readOlder: next === null ? null : readOlder, olderError };
}

const nextOf = ({ entries: { pageInfo } }: FeedPage) => (pageInfo.hasNextPage ? pageInfo.endCursor : null);
