// Reads what both people see: at the start, after each mutation of either, and after events. One read runs at a time.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createClient } from '../../api/client.ts';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import type { Session } from '../../session/store.ts';
import type { SideName } from './sessions.ts';
import { readWorld, type BySide, type World } from './world.ts';

// Events of this period cause one read.
const BATCH_MS = 100;

export function useWorld(sessions: BySide<Session>, onEnded: (side: SideName, token: string) => void) {
  const { left, right } = sessions;
  const [world, setWorld] = useState<World | null>(null);
  const [error, setError] = useState('');
  const state = useRef({ isReading: false, isStale: false, timer: 0, isOver: false });
  const ended = useRef(onEnded);
  ended.current = onEnded;
  const reread = useRef(() => {});
  const client = (side: SideName, token: string) =>
    createClient(token, { onEnded: (token) => ended.current(side, token), onMutation: () => reread.current() });
  const leftClient = useMemo(() => client('left', left.token), [left.token]);
  const rightClient = useMemo(() => client('right', right.token), [right.token]);
  const clients = useMemo(() => ({ left: leftClient, right: rightClient }), [leftClient, rightClient]);

  const refresh = useCallback(async (): Promise<void> => {
    const current = state.current;
    // A change during a read may be missing in it: another read follows.
    current.isStale = true;
    if (current.isReading) return;
    current.isReading = true;
    try {
      while (current.isStale && !current.isOver) {
        current.isStale = false;
        const world = await readWorld(clients, { left: left.user.login, right: right.user.login });
        if (!current.isStale && !current.isOver) setWorld(world);
      }
      setError('');
    } catch (errors) {
      setError(Array.isArray(errors) ? messageOf(errors as ErrorMessage[]) : String(errors));
    } finally {
      current.isReading = false;
    }
  }, [clients]);
  reread.current = () => void refresh();

  const onEvent = useCallback(() => {
    const current = state.current;
    clearTimeout(current.timer);
    current.timer = window.setTimeout(() => void refresh(), BATCH_MS);
  }, [refresh]);

  useEffect(() => {
    state.current = { isReading: false, isStale: false, timer: 0, isOver: false };
    const current = state.current;
    void refresh();
    return () => {
      current.isOver = true;
      clearTimeout(current.timer);
    };
  }, [refresh]);
  return { world, error, clients, refresh, onEvent };
}
