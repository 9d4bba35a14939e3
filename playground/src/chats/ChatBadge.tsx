// The number of chats with unread texts, beside the link to the chats.
import { useEffect } from 'react';
import { useLocation } from 'react-router';
import { useClient } from 'urql';
import { useViewer } from '../session/useSession.ts';
import { refreshUnreadChats, setUnreadClient, useUnreadChats } from './unread.ts';
import { UnreadBadge } from './UnreadBadge.tsx';

export function ChatBadge() {
  const client = useClient();
  const viewer = useViewer();
  const { pathname } = useLocation();
  useEffect(() => {
    setUnreadClient(viewer ? client : null);
    void refreshUnreadChats();
  }, [client, viewer?.id, pathname]);
  useEffect(() => {
    const refresh = () => void refreshUnreadChats();
    addEventListener('focus', refresh);
    return () => removeEventListener('focus', refresh);
  }, []);
  return <UnreadBadge count={useUnreadChats()} one="unread chat" many="unread chats" />;
}
