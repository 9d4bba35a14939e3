// The session: its user, log-in and log-out.
import { useEffect, useRef } from 'react';
import { checkSession } from './actions.ts';
import { isJwt } from './jwt.ts';
import { LoggedIn } from './LoggedIn.tsx';
import { LoggedOut } from './LoggedOut.tsx';
import type { Session } from './store.ts';
import { useSession } from './useSession.ts';
import { useSettings } from './useSettings.ts';
import './session.css';

// The server accepts a JWT for a minute after it has expired. A second more, so that the check is not too early.
const LEEWAY_MS = 61_000;

export function SessionBar() {
  const { session, notice } = useSession();
  const demo = useSettings()?.demo ?? null;
  const section = useRescuedFocus(session);
  useEffect(() => void checkSession(), []);
  useExpiryCheck(session);
  return (
    <section className="session" aria-label="Session" ref={section} tabIndex={-1}>
      {notice && <p role="alert">{notice}</p>}
      {session ? <LoggedIn session={session} /> : <LoggedOut demo={demo} />}
    </section>
  );
}

// Checks a JWT when it has expired. The check is the server's: the clock of this device may be wrong.
function useExpiryCheck(session: Session | null) {
  const expiresAt = session && isJwt(session.token) ? session.expiresAt : null;
  useEffect(() => {
    if (!expiresAt) return;
    const timer = setTimeout(() => void checkSession(), Date.parse(expiresAt) + LEEWAY_MS - Date.now());
    return () => clearTimeout(timer);
  }, [expiresAt]);
}

// A log-in or log-out removes the control that has the focus, and the focus would return to the top of the page. So the bar takes it, unless the focus
// is elsewhere, such as in an editor.
function useRescuedFocus(session: Session | null) {
  const element = useRef<HTMLElement>(null);
  const before = useRef(session);
  useEffect(() => {
    if (before.current !== session && document.activeElement === document.body) element.current?.focus();
    before.current = session;
  }, [session]);
  return element;
}
