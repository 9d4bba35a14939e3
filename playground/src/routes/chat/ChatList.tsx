// A list of chats, each with its newest row and the number of unread texts.
import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { UnreadBadge } from '../../chats/UnreadBadge.tsx';
import { useViewer } from '../../session/useSession.ts';
import { Loading } from '../../ui/Loading.tsx';
import { MoreButton } from '../../ui/MoreButton.tsx';
import { Time } from '../../ui/Time.tsx';
import { useFocusOnNextPage } from '../../ui/useFocusOnNextPage.ts';
import type { ChatCard, ListName } from './lists.ts';
import { previewOf, titleOf } from './texts.ts';
import { useAllChats } from './useChats.ts';

const NAMES: Record<ListName, string> = { INBOX: 'Inbox', ARCHIVED: 'Archive', REQUESTS: 'Requests' };
const EMPTY: Record<ListName, ReactNode> = {
  INBOX: 'No chats yet. Begin one with New chat, or with Message on a profile.',
  ARCHIVED: 'Nothing is archived. The details of a chat have a button for it.',
  REQUESTS: 'Nobody waits for your answer. Chats from accounts that you do not follow come here first.',
};

export function ChatList({ list, chatId }: { list: ListName; chatId: string | null }) {
  const { chats, lists, readLists, readMore } = useAllChats();
  const [error, setError] = useState('');
  const read = lists[list];
  const [element, focusNext] = useFocusOnNextPage(read?.ids.length ?? 0);
  const report = (reading: Promise<unknown>) => reading.then(() => setError(''), (errors: ErrorMessage[]) => setError(messageOf(errors)));
  useEffect(() => {
    if (!read) void report(readLists([list]));
  }, [list]);
  const more = () => {
    focusNext();
    return report(readMore(list));
  };
  return (
    <>
      {!read && !error && <Loading />}
      <ol ref={element} className="chat-list" aria-label={NAMES[list]} tabIndex={-1}>
        {read?.ids.map((id) => {
          const chat = chats[id];
          return (
            chat && (
              <li key={id} tabIndex={-1}>
                <ChatLink chat={chat} isOpen={id === chatId} />
              </li>
            )
          );
        })}
      </ol>
      {read?.ids.length === 0 && <p className="empty">{EMPTY[list]}</p>}
      {read?.next && <MoreButton label="More chats" read={more} />}
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}

function ChatLink({ chat, isOpen }: { chat: ChatCard; isOpen: boolean }) {
  const viewer = useViewer();
  const { id, newestMessage, viewerHasMuted, viewerUnreadCount, kind, membersCount } = chat;
  return (
    <Link to={`/chat/${encodeURIComponent(id)}`} className="chat-link" aria-current={isOpen ? 'page' : undefined}>
      <span className="chat-name" dir="auto">
        {titleOf(chat)}
      </span>
      <span className="when">{newestMessage && <Time at={newestMessage.sentAt} />}</span>
      <span className="chat-newest" dir="auto">
        {previewOf(chat, viewer?.id)}
      </span>
      <span className="chat-marks">
        {kind === 'GROUP' && (
          <span className="mark">
            {membersCount} <span aria-hidden="true">👥</span>
            <span className="visually-hidden">members</span>
          </span>
        )}
        {viewerHasMuted && <span className="mark">Muted</span>}
        <UnreadBadge count={viewerUnreadCount} one="unread message" many="unread messages" />
      </span>
    </Link>
  );
}
