// What is posted with a tag from now on: the public stream, filtered by the tag.
import { useParams } from 'react-router';
import { useViewer } from '../../session/useSession.ts';
import { TimelinePage } from '../../timeline/TimelinePage.tsx';
import { usePublic } from '../../timeline/usePublic.ts';
import { useTitle } from '../../ui/useTitle.ts';
import './tag.css';

export function Component() {
  const { name = '' } = useParams();
  useTitle(`tag ${name}`);
  return <Tag key={name} name={name} />;
}

function Tag({ name }: { name: string }) {
  const stream = usePublic({ filter: { track: [`#${name}`] } }, 0);
  const viewer = useViewer();
  const action = viewer ? `Write the first post with #${name} above.` : `Log in above to write the first post with #${name}.`;
  const head = (
    <header className="tag-head">
      <h1 dir="auto">#{name}</h1>
    </header>
  );
  return <TimelinePage title={`#${name}`} head={head} timeline={stream} empty={<p>Nothing yet. What is posted with #{name} from now on shows here. {action}</p>} />;
}
