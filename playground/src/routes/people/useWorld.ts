// Reads what both people see: at the start, after each mutation of either, and after events. One read runs at a time.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { createClient } from '../../api/client.ts';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { oneAtATime } from '../../api/oneAtATime.ts';
import type { Session } from '../../session/store.ts';
import { SIDES, type SideName } from './sessions.ts';
import { readWorld, type BySide, type World } from './world.ts';

// Events of this period cause one read.
const BATCH_MS = 100;

export function useWorld(sessions: BySide<Session>, onEnded: (side: SideName, token: string) => void) {
  const { left, right } = sessions;
  const [world, setWorld] = useState<World | null>(null);
  const [error, setError] = useState('');
  const timer = useRef(0);
  const ended = useRef(onEnded);
  ended.current = onEnded;
  const reread = useRef(() => {});

  const [clients, readers] = useMemo(() => {
    const create = (hasCache: boolean) => {
      const [left, right] = SIDES.map((side) =>
        createClient(sessions[side].token, { hasCache, onEnded: (token) => ended.current(side, token), onMutation: () => reread.current() }),
      );
      return { left, right } as BySide<NonNullable<typeof left>>;
    };
    // The cache may keep a mutation's change of an entity above the response to a later read.
    return [create(true), create(false)];
  }, [left.token, right.token]);

  const refresh = useMemo(
    () =>
      oneAtATime(async () => {
        try {
          setWorld(await readWorld(readers, { left: left.user.login, right: right.user.login }));
          setError('');
        } catch (errors) {
          setError(Array.isArray(errors) ? messageOf(errors as ErrorMessage[]) : String(errors));
        }
      }),
    [readers],
  );
  reread.current = () => void refresh();

  const onEvent = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => reread.current(), BATCH_MS);
  }, []);
  useEffect(() => {
    void refresh();
    return () => clearTimeout(timer.current);
  }, [refresh]);
  return { world, error, clients, refresh, onEvent };
}
