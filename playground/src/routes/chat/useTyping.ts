// Who is typing in a chat, and telling others that the viewer is.
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import type { ChatPersonFragment } from './fragments/ChatPerson.generated.ts';
import { ChatSendTypingDocument } from './operations/ChatSendTyping.generated.ts';
import { useChatChange } from './useChats.ts';

const SHOWN_MS = 6_000;
const EVERY_MS = 3_000;

export function useTyping(chatId: string): ChatPersonFragment[] {
  const [typing, setTyping] = useState<{ user: ChatPersonFragment; until: number }[]>([]);
  useChatChange((change) => {
    if (change.__typename === 'StreamGap' || change.chatId !== chatId) return;
    if (change.__typename === 'TypingStarted') {
      const { user } = change;
      setTyping((typing) => [...typing.filter((it) => it.user.id !== user.id), { user, until: Date.now() + SHOWN_MS }]);
    } else if (change.__typename === 'MessageSent') {
      const { sender } = change.chatMessage;
      setTyping((typing) => typing.filter(({ user }) => user.id !== sender?.id));
    }
  });
  useEffect(() => {
    if (typing.length === 0) return;
    const first = Math.min(...typing.map(({ until }) => until));
    const timer = setTimeout(() => setTyping((typing) => typing.filter(({ until }) => until > Date.now())), Math.max(0, first - Date.now()) + 1);
    return () => clearTimeout(timer);
  }, [typing]);
  return typing.map(({ user }) => user);
}

// Returns a function to call with every change of the text.
export function useSendTyping(chatId: string): (text: string) => void {
  const client = useClient();
  const sentAt = useRef(-Infinity);
  return (text) => {
    if (!text.trim() || performance.now() - sentAt.current < EVERY_MS) return;
    sentAt.current = performance.now();
    // It is not kept: after a failure, the next change sends it again.
    void client.mutation(ChatSendTypingDocument, { input: { chatId } }).toPromise();
  };
}
