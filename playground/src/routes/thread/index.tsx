// The thread of a status on its own page, for links.
import { useParams } from 'react-router';
import { Thread } from '../../thread/Thread.tsx';
import { useTitle } from '../../ui/useTitle.ts';

export function Component() {
  useTitle('thread');
  const { statusId = '' } = useParams();
  return (
    <main className="columns alone">
      <h1 className="visually-hidden">Thread</h1>
      <Thread key={statusId} statusId={statusId} />
    </main>
  );
}
