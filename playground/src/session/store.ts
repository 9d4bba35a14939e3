// Holds the session whose token operations are sent with, and the last message about it. A JWT is held like the token of a session.
//
// It is stored in localStorage: all tabs of the browser share it until log-out.
import { hasExpired, isJwt } from './jwt.ts';

const KEY = 'waxwing.session';

export const SESSION_ENDED = 'The session has ended. Log in again.';
const JWT_EXPIRED = 'The access token has expired. Log in again, or use a new token.';
const JWT_REFUSED = 'The server no longer accepts the access token. Log in again, or use a new token.';

export type Token = string;

export interface Session {
  token: Token;
  user: { id: string; login: string; name: string };
  // Null if only the token is known.
  expiresAt: string | null;
}

interface State {
  session: Session | null;
  notice: string | null;
}

const listeners = new Set<() => void>();
let leaving: Token | null = null;
let state: State = { session: load(), notice: null };

// A change by another tab.
addEventListener('storage', ({ key }) => {
  if (key === KEY || key === null) change({ session: load(), notice: null });
});

export function current(): State {
  return state;
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToken(): Token | null {
  return state.session?.token ?? null;
}

export function beginSession(session: Session): void {
  save(session);
  change({ session, notice: null });
}

// Sets the login and the name of the session's account, if they are others than those that are stored.
export function renameUser(token: Token, { id, login, name }: Session['user']): void {
  const { session } = state;
  if (session?.token !== token || session.user.id !== id || (session.user.login === login && session.user.name === name)) return;
  const renamed = { ...session, user: { id, login, name } };
  save(renamed);
  change({ ...state, session: renamed });
}

// Ends the session of this token only: the response may arrive after another session has begun. A log-out needs no notice.
export function endSession(token: Token, notice: string | null): void {
  if (token !== currentToken()) return;
  if (load()?.token === token) save(null);
  change({ session: null, notice: token === leaving ? null : notice });
}

// Ends the session of a token that the server refuses.
export function endRefusedSession(token: Token): void {
  if (!isJwt(token)) endSession(token, SESSION_ENDED);
  else endSession(token, hasExpired(token) ? JWT_EXPIRED : JWT_REFUSED);
}

// Marks the token of a log-out in progress; null when the log-out has ended. Its sockets may be closed before the response arrives.
export function markLoggingOut(token: Token | null): void {
  leaving = token;
}

export function notify(notice: string | null): void {
  change({ ...state, notice });
}

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

// A browser may refuse storage, or have a value of an older version: then the session lasts as long as the page.
function load(): Session | null {
  try {
    const session = JSON.parse(localStorage.getItem(KEY) ?? 'null');
    return session?.token && session.user ? session : null;
  } catch {
    return null;
  }
}

function save(session: Session | null): void {
  try {
    if (session) localStorage.setItem(KEY, JSON.stringify(session));
    else localStorage.removeItem(KEY);
  } catch {
    // See load().
  }
}
