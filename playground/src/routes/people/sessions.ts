// The sessions of the two people: separate from that of the browser, and kept for this tab.
import { useState } from 'react';
import type { Session, Token } from '../../session/store.ts';

const KEY = 'waxwing.people';

export const SIDES = ['left', 'right'] as const;
export type SideName = (typeof SIDES)[number];
export type Sessions = Partial<Record<SideName, Session>>;

export const otherSide = (side: SideName): SideName => (side === 'left' ? 'right' : 'left');

export function useSessions() {
  const [sessions, setSessions] = useState(load);
  const change = (next: (sessions: Sessions) => Sessions) =>
    setSessions((before) => {
      const sessions = next(before);
      save(sessions);
      return sessions;
    });
  return {
    sessions,
    begin: (begun: Sessions) => change((sessions) => ({ ...sessions, ...begun })),
    // Ends the session of this token only: the response may arrive after another session has begun.
    end: (side: SideName, token: Token) => change((sessions) => (sessions[side]?.token === token ? { ...sessions, [side]: undefined } : sessions)),
  };
}

// A browser may refuse storage: then the sessions last as long as the page.
function load(): Sessions {
  try {
    const stored = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    const valid = SIDES.filter((side) => stored?.[side]?.token && stored[side].user);
    return Object.fromEntries(valid.map((side) => [side, stored[side]]));
  } catch {
    return {};
  }
}

function save(sessions: Sessions): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(sessions));
  } catch {
    // See load().
  }
}
