// Marks the rows that the viewer sees as seen, at most once a second.
import { useEffect, useMemo, useRef } from 'react';
import { useClient } from 'urql';
import { oneAtATime } from '../../api/oneAtATime.ts';
import { isAttentive, useReturn } from './attention.ts';
import { ChatMarkSeenDocument } from './operations/ChatMarkSeen.generated.ts';
import { useAllChats } from './useChats.ts';

const EVERY_MS = 1_000;

// Returns a function that takes the number of the last row that is visible.
export function useMarkSeen(chatId: string): (sequence: number) => void {
  const client = useClient();
  const chats = useAllChats();
  const visible = useRef(0);
  const latest = useRef(chats);
  latest.current = chats;

  const send = useMemo(
    () =>
      oneAtATime(async () => {
        const card = latest.current.latest.current.chats[chatId];
        const sequence = Math.min(visible.current, card?.newestSequence ?? 0);
        const isSeen = sequence <= (card?.viewerMember?.seenSequence ?? 0);
        // The sender of a request is not notified that it was seen.
        if (!card || isSeen || card.viewerState !== 'ACTIVE' || !isAttentive()) return;
        const { data } = await client.mutation(ChatMarkSeenDocument, { input: { chatId, sequence } }).toPromise();
        if (data?.result?.chat) latest.current.keepCounts(data.result.chat);
        await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      }),
    [client, chatId],
  );
  useReturn(() => void send());
  // Sends again when the connection is back, and after the request was accepted.
  const { phase } = chats.connection;
  const state = chats.chats[chatId]?.viewerState;
  useEffect(() => void send(), [send, phase, state]);
  return (sequence) => {
    visible.current = Math.max(visible.current, sequence);
    void send();
  };
}
