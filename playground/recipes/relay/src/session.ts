// The session of this browser: the token is in localStorage, so that all tabs share it until log-out.
const KEY = 'recipe.token';
const listeners = new Set<() => void>();

export const currentToken = () => localStorage.getItem(KEY);

export function beginSession(token: string) {
  localStorage.setItem(KEY, token);
  changed();
}

// Takes the token that was refused. A late answer must not end the session that has begun since.
export function endSession(refused: string) {
  if (refused !== currentToken()) return;
  localStorage.removeItem(KEY);
  changed();
}

// For useSyncExternalStore. Other tabs are heard by the `storage` event.
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
