// A status and the statuses above it, which are read from the nearest up, and the events about them.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { ConversationDocument } from './operations/Conversation.generated.ts';
import type { TimelineEventFragment } from '../../timeline/fragments/TimelineEvent.generated.ts';
import { useConversationEvent } from './events.ts';
import { countsAfter, entryOf, removeStatus, updateEntries, type ConversationEntry } from './entries.ts';

const LAST = 5;

interface State {
  // Undefined until it has been read, null if there is no such status for the viewer.
  status: StatusCardFragment | null | undefined;
  ancestors: ConversationEntry[];
  // The cursor of the page further above; null at the root.
  before: string | null;
  error: string;
}

const EMPTY: State = { status: undefined, ancestors: [], before: null, error: '' };

export function useConversation(id: string) {
  const client = useClient();
  const [state, setState] = useState(EMPTY);
  // Counts the reads: the result of a read is ignored if another conversation has been opened since.
  const reading = useRef(0);
  // Events during the first read, whose result may lack them.
  const waiting = useRef<TimelineEventFragment[]>([]);

  const readPage = async (before: string | null) => {
    const current = before ? reading.current : ++reading.current;
    try {
      const { node } = await read(client, ConversationDocument, { id, last: LAST, before });
      if (current !== reading.current) return;
      if (node?.__typename !== 'Status') return setState({ ...EMPTY, status: null });
      const { ancestors, ...status } = node;
      const { edges, pageInfo } = ancestors;
      const above = edges.map((edge) => entryOf(edge.node));
      const next = pageInfo.hasPreviousPage ? pageInfo.startCursor : null;
      setState((state) => ({ status, ancestors: before ? [...above, ...state.ancestors] : above, before: next, error: '' }));
      waiting.current.splice(0).forEach(apply);
    } catch (errors) {
      if (current === reading.current) setState((state) => ({ ...state, error: messageOf(errors as ErrorMessage[]) }));
    }
  };
  useEffect(() => {
    reading.current++;
    waiting.current = [];
    setState(EMPTY);
    void readPage(null);
  }, [client, id]);

  // Changes the status or one above it.
  const update = ({ id, ...change }: StatusChange) =>
    setState((state) => ({
      ...state,
      status: state.status?.id === id ? { ...state.status, ...change } : state.status,
      ancestors: updateEntries(state.ancestors, { id, ...change }),
    }));
  const remove = (statusId: string) =>
    setState((state) => ({
      ...state,
      status: state.status?.id === statusId ? null : state.status,
      ancestors: removeStatus(state.ancestors, statusId),
    }));
  const apply = (event: TimelineEventFragment) => {
    if (event.__typename === 'StatusPosted') countsAfter(event.status).forEach(update);
    else if (event.__typename === 'StatusEdited') update(event.status);
    else if (event.__typename === 'StatusDeleted') remove(event.statusId);
  };
  useConversationEvent((event) => {
    if (event.__typename === 'StreamGap') void readPage(null);
    else if (state.status === undefined) waiting.current.push(event);
    else apply(event);
  });
  return {
    ...state,
    update,
    remove,
    readAbove: () => readPage(state.before),
    readAgain: () => readPage(null),
  };
}
