// An account: its card, what it has pinned, and its statuses, with or without replies and reposts.
import { useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import { PersonCard } from '../../people/PersonCard.tsx';
import { RepostsSwitch } from '../../people/RepostsSwitch.tsx';
import { RelationChange } from '../../people/usePersonAction.ts';
import { useViewer } from '../../session/useSession.ts';
import { StatusCard } from '../../statuses/StatusCard.tsx';
import { StatusList, type StatusItem } from '../../timeline/StatusList.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Details } from './Details.tsx';
import { ProfileDocument, type ProfileQuery } from './operations/Profile.generated.ts';
import { ProfileTimelineDocument } from './operations/ProfileTimeline.generated.ts';
import './profile.css';

const FIRST = 20;
const NUMBER = new Intl.NumberFormat();

export function Profile({ login }: { login: string }) {
  const [{ data, error, fetching }, readAgain] = useQuery({ query: ProfileDocument, variables: { login }, requestPolicy: 'cache-and-network' });
  const [version, setVersion] = useState(0);
  const viewer = useViewer();
  const onRelation = () => {
    readAgain({ requestPolicy: 'network-only' });
    setVersion((version) => version + 1);
  };
  const user = data?.user;
  if (!user && fetching) return <Loading />;
  if (!user) return <p role="status">{error ? messageOf(errorMessagesOf(error)) : `There is no account @${login} for you.`}</p>;
  return (
    <RelationChange value={onRelation}>
      <PersonCard person={user}>
        {user.bio && (
          <p className="bio" dir="auto">
            {user.bio}
          </p>
        )}
        <Details user={user} isOwn={viewer?.id === user.id} />
        {viewer && viewer.id !== user.id && !user.viewerIsBlocking && (
          <Link className="message-link" to={`/chat?to=${encodeURIComponent(user.login)}`} state={{ begins: true }}>
            Message
          </Link>
        )}
        {viewer?.id === user.id && (
          <Link className="message-link" to="/account">
            Edit profile
          </Link>
        )}
        {user.viewerFollowState === 'FOLLOWING' && <RepostsSwitch person={user} />}
      </PersonCard>
      <Pinned statuses={user.pinnedStatuses} onChange={() => readAgain({ requestPolicy: 'network-only' })} />
      <Statuses key={version} user={user} />
    </RelationChange>
  );
}

type User = NonNullable<ProfileQuery['user']>;

// The pinned statuses. The cache updates them after an action; only after a deletion `onChange` reads them again.
function Pinned({ statuses, onChange }: { statuses: User['pinnedStatuses']; onChange: () => void }) {
  if (statuses.length === 0) return null;
  return (
    <section className="pinned" aria-labelledby="pinned">
      <h2 id="pinned">Pinned</h2>
      <ol className="timeline" aria-label="Pinned">
        {statuses.map((status) => (
          <li key={status.id}>
            <StatusCard status={status} onChange={() => {}} onDelete={onChange} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Statuses({ user: { login, id, statusesCount } }: { user: User }) {
  const viewer = useViewer();
  const [replies, setReplies] = useState(true);
  const [reposts, setReposts] = useState(true);
  const pages = usePages<StatusItem>(`${id} ${replies} ${reposts}`, async (client, after) => {
    const { user } = await read(client, ProfileTimelineDocument, { login, replies, reposts, first: FIRST, after });
    return pageOf(user?.profileTimeline.entries, ({ node }) => ({ key: node.id, status: node.status, repostedBy: node.repostedBy }));
  });
  const empty = viewer?.id === id ? 'Write your first post at Home.' : 'Follow the account above to see what it posts in your home.';
  return (
    <section aria-labelledby="statuses">
      <div className="profile-head">
        <h2 id="statuses">
          Statuses <span className="total">{NUMBER.format(statusesCount)}</span>
        </h2>
        <Choice label="Replies" isOn={replies} onChange={setReplies} />
        <Choice label="Reposts" isOn={reposts} onChange={setReposts} />
      </div>
      <StatusList label="Statuses" pages={pages} empty={<p>Nothing to see here yet. {empty}</p>} />
    </section>
  );
}

function Choice({ label, isOn, onChange }: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label>
      <input type="checkbox" checked={isOn} onChange={({ target }) => onChange(target.checked)} /> {label}
    </label>
  );
}
