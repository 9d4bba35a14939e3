// One of the two people: the account, the other one's card, the waiting requests, a box to post in, and the statuses of both that this side sees.
import { Provider, type Client } from 'urql';
import { PersonCard } from '../../people/PersonCard.tsx';
import { PrivateSwitch } from '../../people/PrivateSwitch.tsx';
import { Requests } from '../../people/Requests.tsx';
import type { Session } from '../../session/store.ts';
import { ScopedSession } from '../../session/useSession.ts';
import { StatusCard } from '../../statuses/StatusCard.tsx';
import { PostBox } from '../../timeline/PostBox.tsx';
import { ConnectionLine } from '../../ui/ConnectionLine.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { Lists } from './Lists.tsx';
import { otherSide, type SideName } from './sessions.ts';
import { useSideEvents } from './useSideEvents.ts';
import { WhoSees } from './WhoSees.tsx';
import type { BySide, SideView } from './world.ts';

interface Props {
  side: SideName;
  sessions: BySide<Session>;
  client: Client;
  view: SideView | null;
  onEvent: () => void;
  onLogOut: () => Promise<unknown>;
}

export function Side(props: Props) {
  const session = props.sessions[props.side];
  return (
    <ScopedSession value={session}>
      <Provider value={props.client}>
        <section className="side" data-side={props.side} aria-label={`${session.user.name} (${session.user.login})`}>
          <Content {...props} />
        </section>
      </Provider>
    </ScopedSession>
  );
}

function Content({ side, sessions, view, onEvent, onLogOut }: Props) {
  const [me, other] = [sessions[side].user, sessions[otherSide(side)].user];
  const { connection, reconnect } = useSideEvents([me.login, other.login], onEvent);
  const [busy, run] = useBusy();
  return (
    <>
      <header className="side-head">
        <h2 dir="auto">{me.name}</h2> <span className="login">@{me.login}</span>
        <button type="button" className="quiet" aria-disabled={busy} onClick={() => void run(onLogOut)}>
          Log out {me.login}
        </button>
      </header>
      <ConnectionLine connection={connection} gap={null} onReconnect={reconnect} />
      {view ? (
        <>
          <PrivateSwitch isPrivate={view.viewer.isPrivate} />
          {view.user ? (
            <PersonCard person={view.user} />
          ) : (
            <p className="person hint">
              No account @{other.login} exists for {me.login}: {other.login} has blocked {me.login}.
            </p>
          )}
          <Requests follows={view.viewerFollowRequests} friends={view.viewerFriendRequests} />
          <Lists view={view} other={other} />
          <PostBox />
          <Statuses side={side} view={view} sessions={sessions} />
        </>
      ) : (
        <p className="hint" role="status">
          Loading …
        </p>
      )}
    </>
  );
}

function Statuses({ side, view, sessions }: Pick<Props, 'side' | 'sessions'> & { view: SideView }) {
  const other = sessions[otherSide(side)].user;
  const names = { left: sessions.left.user.name, right: sessions.right.user.name };
  const { statuses, hiddenCount } = view;
  return (
    <>
      <ol className="timeline" aria-label="Statuses of both">
        {statuses.map((shown) => (
          <li key={shown.status.id}>
            <StatusCard status={shown.status} onChange={() => {}} />
            <WhoSees shown={shown} names={names} isOpen={shown.author === side} />
          </li>
        ))}
      </ol>
      {statuses.length === 0 && <p className="hint">Nothing to see yet. Write the first post above.</p>}
      {hiddenCount > 0 && (
        <p className="hint hidden-count">
          {hiddenCount} of the latest statuses of @{other.login} {hiddenCount === 1 ? 'is' : 'are'} not shown here.
        </p>
      )}
    </>
  );
}
