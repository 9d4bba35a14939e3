// The session of this browser. The token is in localStorage, so that all tabs share it until log-out.
const KEY = 'recipe.token';
const listeners = new Set<() => void>();

export const currentToken = () => localStorage.getItem(KEY);

export function beginSession(token: string) {
  localStorage.setItem(KEY, token);
  changed();
}

// Ends the session of a refused token. A late response must not end a session that has begun since.
export function endSession(refused: string) {
  if (refused !== currentToken()) return;
  localStorage.removeItem(KEY);
  changed();
}

// For useSyncExternalStore. Changes of other tabs arrive as `storage` events.
export function onSessionChange(listener: () => void) {
  listeners.add(listener);
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

function changed() {
  for (const listener of listeners) listener();
}
