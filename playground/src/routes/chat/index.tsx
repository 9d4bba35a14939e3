// The viewer's chats: the list, and the chat that is open.
import { useMemo } from 'react';
import { useParams } from 'react-router';
import { Provider } from 'urql';
import { createClient } from '../../api/client.ts';
import { LogInHint } from '../../session/LogInHint.tsx';
import { useSession } from '../../session/useSession.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { Chats } from './Chats.tsx';
import './chat.css';

export function Component() {
  useTitle('chat');
  const { chatId } = useParams();
  const token = useSession().session?.token ?? null;
  // Without a cache: the events of the chats come in order, and the page applies them itself.
  const client = useMemo(() => createClient(token, { hasCache: false }), [token]);
  return (
    <main className={`columns chats${chatId ? ' with-chat' : ''}`}>
      <h1 className="visually-hidden">Chat</h1>
      {token ? (
        <Provider value={client}>
          <Chats key={token} chatId={chatId ?? null} />
        </Provider>
      ) : (
        <p className="empty">
          <LogInHint to="see your chats" />
        </p>
      )}
    </main>
  );
}
