// The events of a conversation, for every list of it that is shown. There is no stream of a single conversation: the page subscribes to the public
// stream, and each list selects its events.
import { createContext, use, useEffect, useRef, useState } from 'react';
import { useClient, type Client } from 'urql';
import { read } from '../../api/read.ts';
import { useEvents } from '../../api/useEvents.ts';
import { endRefusedSession } from '../../session/store.ts';
import { useSession } from '../../session/useSession.ts';
import type { TimelineEventFragment } from '../../timeline/fragments/TimelineEvent.generated.ts';
import { gapText, noticeOf } from '../../timeline/gaps.ts';
import { TimelinePublicBeginDocument } from '../../timeline/operations/PublicBegin.generated.ts';
import { TimelinePublicEventsDocument } from '../../timeline/operations/PublicEvents.generated.ts';

type Listener = (event: TimelineEventFragment) => void;

export const EventListeners = createContext<Set<Listener>>(new Set());

// Lists are read after the first cursor, so that none misses an event: `hasBegun` says when.
export function useConversationEvents() {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const [listeners] = useState(() => new Set<Listener>());
  // The client whose cursor is known: after a log-in another one begins.
  const [begun, setBegun] = useState<Client | null>(null);
  const [gap, setGap] = useState<string | null>(null);
  const emit = (event: TimelineEventFragment) => listeners.forEach((listen) => listen(event));
  const following = useEvents('conversation', {
    document: TimelinePublicEventsDocument,
    variables: { filter: { sample: { percent: 100 } } },
    // Events have fields of the viewer: whether the viewer may reply.
    asViewer: true,
    async begin() {
      const { statusEventsSyncCursor } = await read(client, TimelinePublicBeginDocument, {});
      setBegun(client);
      return statusEventsSyncCursor;
    },
    onData: ({ statusEvents }) => emit(statusEvents),
    onGap(reason) {
      setGap(noticeOf(gapText(reason)));
      emit({ __typename: 'StreamGap', cursor: '', reason: reason as never });
    },
    // The socket may report the end of the session before a request does.
    onState: ({ phase }) => void (phase === 'login' && token && endRefusedSession(token)),
  });
  return { ...following, listeners, hasBegun: begun === client, gap };
}

// Calls the listener for each event of the conversation around it.
export function useConversationEvent(listener: Listener): void {
  const listeners = use(EventListeners);
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const listen: Listener = (event) => latest.current(event);
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [listeners]);
}
