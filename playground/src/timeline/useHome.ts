// The viewer's home: reads it, then applies the events after it. After a gap it reads the home again.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { SESSION_ENDED } from '../api/client.ts';
import { read } from '../api/read.ts';
import { useEvents } from '../api/useEvents.ts';
import { endSession } from '../session/store.ts';
import { useSession } from '../session/useSession.ts';
import { gapText, noticeOf } from './gaps.ts';
import { TimelineHomeDocument } from './operations/Home.generated.ts';
import { TimelineHomeEventsDocument } from './operations/HomeEvents.generated.ts';
import { useRows } from './useRows.ts';

const FIRST = 25;

export function useHome() {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const rows = useRows();
  // A home that arrives after its account has logged out is ignored.
  const current = useRef(token);
  current.current = token;
  const [gap, setGap] = useState<string | null>(null);
  // Another session begins with an empty list.
  useEffect(() => {
    setGap(null);
    rows.replace([]);
  }, [token]);

  const following = useEvents(token, {
    document: TimelineHomeEventsDocument,
    variables: {},
    asViewer: true,
    async read() {
      const { homeTimeline } = await read(client, TimelineHomeDocument, { first: FIRST });
      if (!homeTimeline) throw new Error('no home');
      if (current.current === token) rows.replace(homeTimeline.entries.edges.map(({ node }) => node));
      return homeTimeline.syncCursor;
    },
    onData: ({ homeTimelineEvents }) => rows.enqueue(homeTimelineEvents),
    onGap: (reason) => setGap(noticeOf(gapText(reason))),
    // The socket may report the end of the session before a request does.
    onState: ({ phase }) => void (phase === 'login' && token && endSession(token, SESSION_ENDED)),
  });
  return { ...following, ...rows, gap };
}
