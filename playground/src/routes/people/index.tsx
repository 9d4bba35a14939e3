// Two people side by side, each with a session of its own: whatever one does, the view of the other follows.
import { useState } from 'react';
import { sendLogOut } from '../../session/actions.ts';
import { SESSION_ENDED, type Session, type Token } from '../../session/store.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { DemoButton } from './DemoButton.tsx';
import { otherSide, SIDES, useSessions, type SideName } from './sessions.ts';
import { Side } from './Side.tsx';
import { SideChoice } from './SideChoice.tsx';
import { SideLogIn } from './SideLogIn.tsx';
import { useWorld } from './useWorld.ts';
import type { BySide } from './world.ts';
import '../../timeline/timeline.css';
import './people.css';

const TITLES: Record<SideName, string> = { left: 'First person', right: 'Second person' };

export function Component() {
  useTitle('people');
  const { sessions, begin, end } = useSessions();
  const { left, right } = sessions;
  const [notices, setNotices] = useState<Partial<Record<SideName, string>>>({});
  const onEnded = (side: SideName, token: Token) => {
    setNotices((notices) => ({ ...notices, [side]: SESSION_ENDED }));
    end(side, token);
  };
  const logOut = async (side: SideName, { token }: Session) => {
    await sendLogOut(token, () => {});
    end(side, token);
  };
  const adopt = (side: SideName, session: Session) => {
    if (sessions[otherSide(side)]?.user.id === session.user.id) return 'This account is the other person already: choose another one.';
    setNotices((notices) => ({ ...notices, [side]: undefined }));
    begin({ [side]: session });
  };
  return (
    <main className="columns people">
      <h1>People</h1>
      <p className="hint intro">Two accounts side by side, and who sees the posts of each. The log-in above stays as it is.</p>
      {left && right ? (
        <Both key={`${left.token} ${right.token}`} sessions={{ left, right }} onEnded={onEnded} onLogOut={logOut} />
      ) : (
        <>
          <div className="intro start">
            <p>Log in two accounts to begin.</p>
            {!left && !right && <DemoButton onSessions={begin} />}
          </div>
          {SIDES.map((side) => {
            const session = sessions[side];
            const begun = (session: Session) => adopt(side, session);
            if (!session) return <SideLogIn key={side} title={TITLES[side]} notice={notices[side] ?? ''} onSession={begun} />;
            return <LoggedIn key={side} session={session} onLogOut={() => void logOut(side, session)} />;
          })}
        </>
      )}
    </main>
  );
}

function LoggedIn({ session: { user }, onLogOut }: { session: Session; onLogOut: () => void }) {
  return (
    <section className="side" aria-label={`${user.name} (${user.login})`}>
      <header className="side-head">
        <h2 dir="auto">{user.name}</h2> <span className="login">@{user.login}</span>
        <button type="button" className="quiet" onClick={onLogOut}>
          Log out {user.login}
        </button>
      </header>
      <p className="hint">Logged in. Log in the other person too.</p>
    </section>
  );
}

interface BothProps {
  sessions: BySide<Session>;
  onEnded: (side: SideName, token: string) => void;
  onLogOut: (side: SideName, session: Session) => Promise<void>;
}

function Both({ sessions, onEnded, onLogOut }: BothProps) {
  const { world, error, clients, refresh, onEvent } = useWorld(sessions, onEnded);
  // On a narrow screen one side is shown at a time.
  const [shown, setShown] = useState<SideName>('left');
  return (
    <>
      <div className="intro tools">
        <SideChoice sessions={sessions} shown={shown} onChange={setShown} />
        <button type="button" className="quiet" onClick={() => void refresh()}>
          Refresh
        </button>
        <p className="error" role="alert">
          {error}
        </p>
      </div>
      <div className="sides" data-shown={shown}>
        {SIDES.map((side) => (
          <Side
            key={side}
            side={side}
            sessions={sessions}
            client={clients[side]}
            view={world?.[side] ?? null}
            onEvent={onEvent}
            onLogOut={() => onLogOut(side, sessions[side])}
          />
        ))}
      </div>
    </>
  );
}
