// The session of this client. A page keeps the token in localStorage, so that all tabs share one session until log-out; this recipe, which
// runs in Node.js, keeps it in memory.
let token: string | null = null;
const listeners = new Set<(token: string | null) => void>();

export const currentToken = () => token;

export function beginSession(newToken: string) {
  change(newToken);
}

// Ends the session of a refused token. A late response must not end a session that has begun since.
export function endSession(refused: string) {
  if (refused === token) change(null);
}

export function onSessionChange(listener: (token: string | null) => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: string | null) {
  token = next;
  for (const listener of listeners) listener(token);
}
