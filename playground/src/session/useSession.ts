// Hooks for the session.
import { useSyncExternalStore } from 'react';
import { current, subscribe } from './store.ts';

export function useSession() {
  return useSyncExternalStore(subscribe, current);
}

// The viewer's account, or null without a session.
export function useViewer() {
  return useSession().session?.user ?? null;
}
