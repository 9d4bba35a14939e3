// The conversation of a status on its own page, for links.
import { useLocation, useParams } from 'react-router';
import { useTitle } from '../../ui/useTitle.ts';
import { Conversation } from './Conversation.tsx';

export function Component() {
  useTitle('conversation');
  const { statusId = '' } = useParams();
  const showsQuotes = useLocation().pathname.endsWith('/quotes');
  return (
    <main className="columns alone conversation">
      <h1 className="visually-hidden">Conversation</h1>
      <div>
        <Conversation key={statusId} statusId={statusId} showsQuotes={showsQuotes} />
      </div>
    </main>
  );
}
