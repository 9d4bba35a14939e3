// The bar with a session: its user, its expiry, and the log-out.
import { Link } from 'react-router';
import { useBusy } from '../ui/useBusy.ts';
import { logOut } from './actions.ts';
import { isJwt } from './jwt.ts';
import type { Session } from './store.ts';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
// A JWT expires within a day.
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function LoggedIn({ session }: { session: Session }) {
  const [busy, run] = useBusy();
  return (
    <>
      <p role="status">
        Logged in as <Link to={`/profile/${session.user.login}`}>{session.user.name}</Link> ({session.user.login})
        {session.expiresAt && <Expiry at={session.expiresAt} format={isJwt(session.token) ? TIME : DATE} />}
      </p>
      <Link to="/account">Account</Link>
      <button type="button" aria-disabled={busy} onClick={() => void run(logOut)}>
        Log out
      </button>
    </>
  );
}

function Expiry({ at, format }: { at: string; format: Intl.DateTimeFormat }) {
  return (
    <span className="expiry">
      , until{' '}
      <time dateTime={at} title={at}>
        {format.format(new Date(at))}
      </time>
    </span>
  );
}
