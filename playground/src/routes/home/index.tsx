// The viewer's home: the statuses of the viewer and of the accounts that the viewer follows.
import { Link } from 'react-router';
import { LogInHint } from '../../session/LogInHint.tsx';
import { useViewer } from '../../session/useSession.ts';
import { FollowedTags } from '../../tags/FollowedTags.tsx';
import { TimelinePage } from '../../timeline/TimelinePage.tsx';
import { useHome } from '../../timeline/useHome.ts';
import { useTitle } from '../../ui/useTitle.ts';

export function Component() {
  useTitle('home');
  const home = useHome();
  const viewer = useViewer();
  const isReading = viewer && home.connection.phase === 'connecting';
  const head = (
    <>
      <h1 className="visually-hidden">Home</h1>
      {viewer && <FollowedTags key={viewer.id} onChange={home.reconnect} />}
    </>
  );
  return <TimelinePage title="Home" head={head} timeline={home} onRelation={home.reconnect} hasSubscription={Boolean(viewer)} empty={isReading ? null : viewer ? <FirstPost /> : <p><LogInHint to="see your home" /></p>} />;
}

const FirstPost = () => (
  <p>
    Your home is empty. Write your first post above, or follow somebody: press the name of an author at <Link to="/live">Live</Link>, then Follow.
  </p>
);
