// Holds the session that operations are sent with, and the last thing to tell about it.
//
// It is kept in sessionStorage, not in localStorage: it outlives a reload but not the browser tab, so that no token is
// left behind on a shared machine, and two browser tabs can be two users at once, which a social API calls for. GraphiQL's
// page and the live one share it; what is React's stands in useSession.js.
const KEY = 'waxwing.session';
const listeners = new Set();
let leaving = null;
let state = { session: load(), notice: null };

export function current() {
  return state;
}

export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function currentToken() {
  return state.session?.token ?? null;
}

// A session is { token, user: { login, name }, expiresAt }; expiresAt is null where only the token is known.
export function beginSession(session) {
  change({ session, notice: null });
}

// Only the session of that token ends: the answer may come after another one has begun. Whoever is logging out of it knows.
export function endSession(token, notice) {
  if (token === currentToken()) change({ session: null, notice: token === leaving ? null : notice });
}

// The token that is being logged out of: its sockets may hear of the end before its answer does.
export function leave(token) {
  leaving = token;
}

export function notify(notice) {
  change({ ...state, notice });
}

function change(next) {
  state = next;
  save(state.session);
  for (const listener of listeners) listener();
}

// A browser may refuse storage, or hold what an older playground wrote: then the session lives as long as the page.
function load() {
  try {
    const session = JSON.parse(sessionStorage.getItem(KEY));
    return session?.token && session.user ? session : null;
  } catch {
    return null;
  }
}

function save(session) {
  try {
    if (session) sessionStorage.setItem(KEY, JSON.stringify(session));
    else sessionStorage.removeItem(KEY);
  } catch {
    // See load().
  }
}
