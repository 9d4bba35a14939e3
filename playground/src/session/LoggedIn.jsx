// What the bar shows of a session: its user, how long it lasts, and the way out.
import { logOut } from './actions.js';
import { useBusy } from './useBusy.js';

const FORMAT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function LoggedIn({ session }) {
  const [busy, run] = useBusy();
  return (
    <>
      <p role="status">
        Logged in as <strong>{session.user.name}</strong> ({session.user.login})
        {session.expiresAt && <Expiry at={session.expiresAt} />}
      </p>
      <button type="button" aria-disabled={busy} onClick={() => run(logOut)}>
        Log out
      </button>
    </>
  );
}

function Expiry({ at }) {
  return (
    <>
      , until{' '}
      <time dateTime={at} title={at}>
        {FORMAT.format(new Date(at))}
      </time>
    </>
  );
}
