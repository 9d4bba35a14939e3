// A status and the statuses above it, nearest first to be read and root first to be shown.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { ConversationDocument } from './operations/Conversation.generated.ts';
import { placeOf, removeStatus, updatePlaces, type Place } from './places.ts';

const LAST = 5;

interface State {
  // Undefined until it has been read, null if there is no such status for the viewer.
  status: StatusCardFragment | null | undefined;
  ancestors: Place[];
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

  const readPage = async (before: string | null) => {
    const current = before ? reading.current : ++reading.current;
    try {
      const { node } = await read(client, ConversationDocument, { id, last: LAST, before });
      if (current !== reading.current) return;
      if (node?.__typename !== 'Status') return setState({ ...EMPTY, status: null });
      const { ancestors, ...status } = node;
      const { edges, pageInfo } = ancestors;
      const above = edges.map((edge) => placeOf(edge.node));
      const next = pageInfo.hasPreviousPage ? pageInfo.startCursor : null;
      setState((state) => ({ status, ancestors: before ? [...above, ...state.ancestors] : above, before: next, error: '' }));
    } catch (errors) {
      if (current === reading.current) setState((state) => ({ ...state, error: messageOf(errors as ErrorMessage[]) }));
    }
  };
  useEffect(() => {
    reading.current++;
    setState(EMPTY);
    void readPage(null);
  }, [client, id]);

  return {
    ...state,
    readAbove: () => readPage(state.before),
    readAgain: () => readPage(null),
    // Changes the status or one above it.
    update: (change: StatusChange) =>
      setState((state) => ({
        ...state,
        status: state.status?.id === change.id ? { ...state.status, ...change } : state.status,
        ancestors: updatePlaces(state.ancestors, change),
      })),
    remove: (statusId: string) =>
      setState((state) => ({
        ...state,
        status: state.status?.id === statusId ? null : state.status,
        ancestors: removeStatus(state.ancestors, statusId),
      })),
  };
}
