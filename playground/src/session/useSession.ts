// Hooks for the session.
import { createContext, use, useSyncExternalStore } from 'react';
import { current, subscribe, type Session } from './store.ts';

// A session for a part of a page, instead of the session of the browser.
export const ScopedSession = createContext<Session | null>(null);

export function useSession() {
  const part = use(ScopedSession);
  const state = useSyncExternalStore(subscribe, current);
  return part ? { session: part, notice: null } : state;
}

// The viewer's account, or null without a session.
export function useViewer() {
  return useSession().session?.user ?? null;
}
