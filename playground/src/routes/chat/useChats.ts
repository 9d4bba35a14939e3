// The viewer's chats: reads the lists, then applies the events after them. One subscription has the events of all chats, which it passes on to the
// chat that is open.
import { createContext, use, useEffect, useRef, useState } from 'react';
import { useClient, type Client } from 'urql';
import { read } from '../../api/read.ts';
import { useEvents } from '../../api/useEvents.ts';
import { refreshUnreadChats } from '../../chats/unread.ts';
import { endRefusedSession } from '../../session/store.ts';
import { useSession } from '../../session/useSession.ts';
import { chatGapText } from './gaps.ts';
import type { ChatPageFragment } from './fragments/ChatPage.generated.ts';
import { applyChange, NO_CHATS, place, withCard, withCounts, withPage, type Change, type ChatCard, type ChatRow, type ChatsState, type ListName } from './lists.ts';
import type { ChatCountsFragment } from './fragments/ChatCounts.generated.ts';
import { ChatEventsDocument } from './operations/ChatEvents.generated.ts';
import { ChatRequestsDocument } from './operations/ChatRequests.generated.ts';
import { ChatsDocument } from './operations/Chats.generated.ts';
import { useLatest } from './useLatest.ts';

const FIRST = 20;
const MOST = 100;
// Events of this period are applied together.
const BATCH_MS = 50;
// The number of unread chats follows an event within a second.
const UNREAD_MS = 1_100;

export type Listener = (change: Change) => void;

export function useChats() {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const [state, change, latest] = useLatest<ChatsState>(NO_CHATS);
  const [hasBegun, setHasBegun] = useState(false);
  const [gap, setGap] = useState<string | null>(null);
  const [listeners] = useState(() => new Set<Listener>());
  const batch = useRef({ events: [] as Change[], timer: 0 });
  // Events during the read of a list, whose result may lack them.
  const reading = useRef({ count: 0, events: [] as Change[] });
  const unread = useRef({ timer: 0, isWanted: false });
  useEffect(
    () => () => {
      clearTimeout(batch.current.timer);
      clearTimeout(unread.current.timer);
      batch.current = { events: [], timer: 0 };
      unread.current = { timer: 0, isWanted: false };
    },
    [],
  );

  const emit = (changed: Change) => listeners.forEach((listen) => listen(changed));

  // Reads the first page of each list, as long as the list is now.
  async function readLists(names: readonly ListName[]): Promise<string> {
    reading.current.count++;
    try {
      const sizeOf = (name: ListName) => Math.min(MOST, Math.max(FIRST, latest.current.lists[name]?.ids.length ?? 0));
      const pages = await Promise.all(names.map((name) => readPage(client, name, sizeOf(name), null)));
      const missed = reading.current.events;
      change((state) => missed.reduce(applyChange, names.reduce((state, name, at) => withListPage(state, name, pages[at], true), state)));
      return pages[0]?.syncCursor ?? '';
    } finally {
      if (--reading.current.count === 0) reading.current.events = [];
    }
  }

  async function readMore(name: ListName): Promise<void> {
    const after = latest.current.lists[name]?.next ?? null;
    if (after === null) return;
    const page = await readPage(client, name, FIRST, after);
    change((state) => withListPage(state, name, page, false));
  }

  function readStale(): void {
    const { stale } = latest.current;
    if (stale.length === 0) return;
    change((state) => ({ ...state, stale: [] }));
    // After a failure, the list is read again with the next such event, or when the connection begins again.
    readLists(stale).catch(() => {});
  }

  // Reads the number at once, and again when it has followed the event: about once a second while many events come.
  function refreshUnread(): void {
    if (unread.current.timer) return void (unread.current.isWanted = true);
    void refreshUnreadChats();
    unread.current.timer = window.setTimeout(() => {
      const { isWanted } = unread.current;
      unread.current = { timer: 0, isWanted: false };
      if (isWanted) refreshUnread();
      else void refreshUnreadChats();
    }, UNREAD_MS);
  }

  function apply(): void {
    const events = batch.current.events.splice(0);
    batch.current.timer = 0;
    if (reading.current.count > 0) reading.current.events.push(...events);
    change((state) => events.reduce(applyChange, state));
    events.forEach(emit);
    readStale();
    if (events.some(({ __typename }) => CHANGES_UNREAD.includes(__typename))) refreshUnread();
  }

  const following = useEvents(token && `chats ${token}`, {
    document: ChatEventsDocument,
    variables: {},
    asViewer: true,
    async read() {
      const loaded = latest.current.lists.ARCHIVED ? (['INBOX', 'REQUESTS', 'ARCHIVED'] as const) : (['INBOX', 'REQUESTS'] as const);
      const isFirst = latest.current.lists.INBOX === null;
      const cursor = await readLists(loaded);
      setHasBegun(true);
      if (!isFirst) emit({ __typename: 'StreamGap', cursor, reason: 'LOST' });
      refreshUnread();
      return cursor;
    },
    onData({ chatEvents }) {
      batch.current.events.push(chatEvents);
      batch.current.timer ||= window.setTimeout(apply, BATCH_MS);
    },
    onGap: (reason) => setGap(chatGapText(reason)),
    // The socket may report the end of the session before a request does.
    onState: ({ phase }) => void (phase === 'login' && token && endRefusedSession(token)),
  });
  return {
    ...following,
    ...state,
    latest,
    hasBegun,
    gap,
    listeners,
    readLists,
    readMore,
    // A mutation of this page has returned a chat, its counts, or a row.
    keep(card: ChatCard) {
      change((state) => place(state, card));
      readStale();
      void refreshUnreadChats();
    },
    // A read of one chat has returned its card, which moves it to no other list.
    updateCard: (card: ChatCard) => change((state) => withCard(state, card)),
    keepCounts(counts: ChatCountsFragment) {
      change((state) => withCounts(state, counts));
      // After a mutation of the viewer the number is exact.
      void refreshUnreadChats();
    },
    keepRow(chatId: string, chatMessage: ChatRow) {
      const row: Change = { __typename: 'RowRead', chatId, chatMessage };
      change((state) => applyChange(state, row));
      emit(row);
    },
    // The viewer has switched read receipts on or off.
    changeReceipts: () => emit({ __typename: 'ReceiptsChanged', chatId: null }),
    forget(chatId: string) {
      const gone: Change = { __typename: 'ViewerChatChanged', cursor: '', chatId, chat: null };
      change((state) => applyChange(state, gone));
      emit(gone);
      void refreshUnreadChats();
    },
  };
}

export type Chats = ReturnType<typeof useChats>;

const CHANGES_UNREAD: readonly string[] = ['MessageSent', 'MessageDeleted', 'SeenChanged', 'ChatMemberLeft', 'ViewerChatChanged'];

async function readPage(client: Client, name: ListName, first: number, after: string | null): Promise<ChatPageFragment | null> {
  if (name === 'REQUESTS') return (await read(client, ChatRequestsDocument, { first, after })).viewerChatRequests;
  return (await read(client, ChatsDocument, { filter: name, first, after })).viewerChats;
}

function withListPage(state: ChatsState, name: ListName, page: ChatPageFragment | null | undefined, isFirst: boolean): ChatsState {
  if (!page) return state;
  const { edges, pageInfo } = page;
  return withPage(state, name, edges.map(({ node }) => node), pageInfo.hasNextPage ? pageInfo.endCursor : null, isFirst);
}

export const ChatsContext = createContext<Chats | null>(null);

// The chats of the page around it.
export function useAllChats(): Chats {
  const chats = use(ChatsContext);
  if (!chats) throw new Error('the page of the chats is around it');
  return chats;
}

// Calls the listener for each change.
export function useChatChange(listener: Listener): void {
  const { listeners } = useAllChats();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const listen: Listener = (change) => latest.current(change);
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, [listeners]);
}
