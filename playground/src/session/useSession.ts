// The session as React's components see it.
import { useSyncExternalStore } from 'react';
import { current, subscribe } from './store.ts';

export function useSession() {
  return useSyncExternalStore(subscribe, current);
}

// The account that asks; null for nobody.
export function useViewer() {
  return useSession().session?.user ?? null;
}
