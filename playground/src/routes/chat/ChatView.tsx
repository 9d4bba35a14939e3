// The open chat: its head, its details, its rows, and the box to write in.
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { useViewer } from '../../session/useSession.ts';
import { Loading } from '../../ui/Loading.tsx';
import { useAnnouncement } from '../../ui/useAnnouncement.ts';
import { Composer } from './Composer.tsx';
import { Details } from './Details.tsx';
import { Answer } from './Answer.tsx';
import type { ChatCard, ChatRow } from './lists.ts';
import { RowList } from './RowList.tsx';
import { titleOf, typingText } from './texts.ts';
import { useChatRows } from './useChatRows.ts';
import { useAllChats, useChatChange } from './useChats.ts';
import { useMembers } from './useMembers.ts';
import { useTyping } from './useTyping.ts';

interface Props {
  chatId: string;
  drafts: Map<string, string>;
}

export function ChatView({ chatId, drafts }: Props) {
  const { chats } = useAllChats();
  const rowsState = useChatRows(chatId);
  const members = useMembers(chatId);
  const typing = useTyping(chatId);
  const announcement = useNewMessages(chatId);
  const [replyTo, setReplyTo] = useState<ChatRow | null>(null);
  const chat = chats[chatId];
  if (rowsState.phase === 'gone' || (rowsState.phase === 'read' && !chat)) return <Gone />;
  if (!chat) return rowsState.error ? <Failed error={rowsState.error} /> : <Loading />;
  const canWrite = chat.viewerState === 'ACTIVE' && chat.viewerCanSend;
  return (
    <section className="chat" aria-labelledby="chat-title">
      <Head chat={chat} members={members} takesFocus={!canWrite} />
      {rowsState.phase === 'reading' && !rowsState.error && <Loading />}
      <RowList chat={chat} rowsState={rowsState} members={members.items ?? []} onReply={canWrite ? setReplyTo : null} />
      <p className="error" role="alert">
        {rowsState.error}
      </p>
      <p className="typing" aria-live="polite">
        {typingText(typing)}
      </p>
      {chat.viewerState === 'REQUEST' && <Answer chat={chat} />}
      {canWrite && <Composer key={chatId} chat={chat} rowsState={rowsState} drafts={drafts} replyTo={replyTo} onReplyTo={setReplyTo} />}
      {chat.viewerState === 'ACTIVE' && !canWrite && <p className="hint">You cannot write here: {reasonOf(chat)}</p>}
      <p className="visually-hidden" aria-live="polite">
        {announcement}
      </p>
    </section>
  );
}

const reasonOf = ({ kind, viewerPeer }: ChatCard) =>
  kind === 'DIRECT' && !viewerPeer ? 'the account is not available.' : 'one of you blocks the other, or the other has not accepted your first messages yet.';

function Gone() {
  return (
    <p className="empty choose" role="status">
      There is no such chat for you. <Link to="/chat">Back to your chats</Link>
    </p>
  );
}

function Failed({ error }: { error: string }) {
  return (
    <div className="empty choose">
      <p className="error" role="alert">
        {error}
      </p>
      <Link to="/chat">Back to your chats</Link>
    </div>
  );
}

interface HeadProps {
  chat: ChatCard;
  members: ReturnType<typeof useMembers>;
  takesFocus: boolean;
}

function Head({ chat, members, takesFocus }: HeadProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => void (takesFocus && title.current?.focus({ preventScroll: true })), []);
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  const { kind, membersCount, viewerPeer } = chat;
  return (
    <>
      <header className="chat-head">
        <Link to="/chat" className="back" aria-label="Back to your chats">
          ‹
        </Link>
        <h2 id="chat-title" ref={title} tabIndex={-1} dir="auto">
          {titleOf(chat)}
        </h2>
        <span className="login">
          {kind === 'GROUP' ? `${membersCount} ${membersCount === 1 ? 'member' : 'members'}` : viewerPeer && <Link to={`/profile/${viewerPeer.login}`}>@{viewerPeer.login}</Link>}
        </span>
        {chat.viewerHasMuted && <span className="mark">Muted</span>}
        {chat.viewerState === 'ACTIVE' && (
          <button ref={button} type="button" aria-expanded={isOpen} onClick={() => (isOpen ? close() : setIsOpen(true))}>
            Details
          </button>
        )}
      </header>
      {isOpen && <Details chat={chat} members={members} onClose={close} />}
    </>
  );
}

// Announces the texts of others that events have brought.
function useNewMessages(chatId: string): string {
  const viewer = useViewer();
  const [count, setCount] = useState(0);
  useChatChange((change) => {
    if (change.__typename === 'MessageSent' && change.chatId === chatId && change.chatMessage.sender?.id !== viewer?.id) setCount((count) => count + 1);
  });
  return useAnnouncement(count, (added) => (added === 1 ? 'One new message' : `${added} new messages`));
}
