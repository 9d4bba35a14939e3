// The session as React's components see it.
import { useSyncExternalStore } from 'react';
import { current, subscribe } from './store.js';

export function useSession() {
  return useSyncExternalStore(subscribe, current);
}
