// The number of chats with unread texts, which the navigation shows. It is read when a page opens and when the window gets the focus; the page of the
// chats also reads it when an event may have changed it.
import { useSyncExternalStore } from 'react';
import type { Client } from 'urql';
import { oneAtATime } from '../api/oneAtATime.ts';
import { read } from '../api/read.ts';
import { UnreadChatsDocument } from './operations/UnreadChats.generated.ts';

const listeners = new Set<() => void>();
let client: Client | null = null;
let count = 0;

// The client of the session, or null without one.
export function setUnreadClient(next: Client | null): void {
  if (client !== next) change(0);
  client = next;
}

export const refreshUnreadChats = oneAtATime(async () => {
  const current = client;
  if (!current) return;
  // Without a response the number stays: the next page reads it again.
  const data = await read(current, UnreadChatsDocument, {}).catch(() => null);
  if (data && current === client) change(data.viewerUnreadChatsCount ?? 0);
});

export const useUnreadChats = () => useSyncExternalStore(subscribe, () => count);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: number): void {
  if (count === next) return;
  count = next;
  for (const listener of listeners) listener();
}
