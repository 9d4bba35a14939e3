// Holds the session that operations are sent with, and the last message about it.
//
// It is kept in localStorage: a token lives in all tabs of the browser, and until somebody logs out.
const KEY = 'waxwing.session';

export type Token = string;

export interface Session {
  token: Token;
  user: { id: string; login: string; name: string };
  // Null where only the token is known.
  expiresAt: string | null;
}

interface State {
  session: Session | null;
  notice: string | null;
}

const listeners = new Set<() => void>();
let leaving: Token | null = null;
let state: State = { session: load(), notice: null };

// What another tab did.
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

// Ends the session of that token and no other: the answer may come after another one has begun. Whoever logs out needs no notice.
export function endSession(token: Token, notice: string | null): void {
  if (token !== currentToken()) return;
  if (load()?.token === token) save(null);
  change({ session: null, notice: token === leaving ? null : notice });
}

// The token that is being logged out of: its sockets may hear of the end before the answer comes.
export function leave(token: Token | null): void {
  leaving = token;
}

export function notify(notice: string | null): void {
  change({ ...state, notice });
}

function change(next: State): void {
  state = next;
  for (const listener of listeners) listener();
}

// A browser may refuse storage, or hold what an older version wrote: then the session lives as long as the page.
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
