// The buttons that accept or decline a chat request.
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { useBusy } from '../../ui/useBusy.ts';
import type { ChatCard } from './lists.ts';
import { ChatAcceptDocument } from './operations/ChatAccept.generated.ts';
import { ChatDeclineDocument } from './operations/ChatDecline.generated.ts';
import { titleOf } from './texts.ts';
import { useAllChats } from './useChats.ts';

export function Answer({ chat }: { chat: ChatCard }) {
  const { keep, forget } = useAllChats();
  const navigate = useNavigate();
  const [, accept] = useMutation(ChatAcceptDocument);
  const [, decline] = useMutation(ChatDeclineDocument);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const input = { chatId: chat.id };
  const answer = async (isAccepted: boolean) => {
    if (isAccepted) {
      const { data, error } = await accept({ input });
      setError(messageOf(errorMessagesOf(error, data?.result)));
      if (data?.result?.chat) keep(data.result.chat);
      return;
    }
    const { data, error } = await decline({ input });
    const message = messageOf(errorMessagesOf(error, data?.result));
    setError(message);
    if (message) return;
    void navigate('/chat');
    forget(chat.id);
  };
  return (
    <div className="answer">
      <p>
        {titleOf(chat)} {chat.kind === 'GROUP' ? 'is a group that you were added to.' : 'wants to write to you.'} Nobody is notified before you accept.
      </p>
      <div className="foot">
        <button type="button" aria-disabled={busy} onClick={() => void run(() => answer(false))}>
          Decline
        </button>
        <button type="button" className="primary" aria-disabled={busy} onClick={() => void run(() => answer(true))}>
          Accept
        </button>
      </div>
      <p className="error" role="alert">
        {error}
      </p>
    </div>
  );
}
