// The rows of the open chat: begins at the first unread one, reads older and newer pages on request, and applies events.
import { useEffect, useRef } from 'react';
import { useClient } from 'urql';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import { useViewer } from '../../session/useSession.ts';
import type { Change, ChatCard } from './lists.ts';
import { ChatBeginDocument } from './operations/ChatBegin.generated.ts';
import { ChatRowsDocument, type ChatRowsQueryVariables } from './operations/ChatRows.generated.ts';
import { applyToRows, firstUnread, fromPage, lastOf, NO_ROWS, withNewer, withNewest, withOlder, type Rows } from './rows.ts';
import { isAttentive } from './attention.ts';
import { useAllChats, useChatChange } from './useChats.ts';
import { useLatest } from './useLatest.ts';

const FIRST = 40;
// The time for which a row that arrived early waits for the rows before it: rows of a chat that was not accepted yet have no events.
const GAP_WAIT_MS = 1_000;

// The place to which the list scrolls next.
export interface ScrollTarget {
  to: 'line' | 'end' | number;
}

interface State extends Rows {
  phase: 'reading' | 'read' | 'gone';
  // The sequence of the row below the line "New messages".
  line: number | null;
  scrollTarget: ScrollTarget | null;
  error: string;
}

const EMPTY: State = { ...NO_ROWS, phase: 'reading', line: null, scrollTarget: null, error: '' };

export function useChatRows(chatId: string) {
  const client = useClient();
  const viewer = useViewer();
  const chats = useAllChats();
  const [state, change, latest] = useLatest<State>(EMPTY);
  // `round` counts the reads that replace all rows: the result of a read is ignored if another one has begun since. While one runs, events wait.
  // `missed` has the events that arrive while pages are read: the pages may lack them.
  const reading = useRef({ round: 0, waiting: null as Change[] | null, pages: 0, missed: [] as Change[] });
  const cardOf = () => chats.latest.current.chats[chatId];

  const readRows = async (variables: Omit<ChatRowsQueryVariables, 'id'>) => {
    const { node } = await read(client, ChatRowsDocument, { id: chatId, ...variables });
    return node?.__typename === 'Chat' ? node : null;
  };
  const readCard = async () => {
    const { node } = await read(client, ChatBeginDocument, { id: chatId });
    return node?.__typename === 'Chat' ? node : null;
  };

  // Reads the rows around a sequence, or the newest ones.
  async function readAt(around: number | null, stateAfter: (rows: Rows, card: ChatCard) => Partial<State>): Promise<void> {
    const round = ++reading.current.round;
    reading.current.waiting = [];
    try {
      const chat = await readRows({ first: FIRST, around });
      if (round !== reading.current.round) return;
      if (!chat) return change((state) => ({ ...state, ...NO_ROWS, phase: 'gone' }));
      const { messages, ...card } = chat;
      const rows = fromPage(messages);
      // The next state depends on the viewer's read position before this read.
      const next = stateAfter(rows, card);
      chats.updateCard(card);
      change((state) => ({ ...state, ...rows, phase: 'read', error: '', ...next }));
      reading.current.waiting?.forEach(apply);
    } catch (errors) {
      if (round === reading.current.round) change((state) => ({ ...state, error: textOf(errors) }));
    } finally {
      if (round === reading.current.round) reading.current.waiting = null;
    }
  }

  async function begin(): Promise<void> {
    const round = ++reading.current.round;
    try {
      const card = cardOf() ?? (await readCard());
      if (round !== reading.current.round) return;
      if (!card) return change((state) => ({ ...state, phase: 'gone' }));
      const seen = card.viewerMember?.seenSequence ?? 0;
      const around = card.viewerUnreadCount > 0 ? seen + 1 : null;
      await readAt(around, (rows) => {
        const line = around === null ? null : firstUnread(rows.rows, seen, viewer?.id);
        return { line, scrollTarget: { to: line === null ? 'end' : 'line' } };
      });
    } catch (errors) {
      if (round === reading.current.round) change((state) => ({ ...state, error: textOf(errors) }));
    }
  }

  async function readPage(variables: Omit<ChatRowsQueryVariables, 'id'>, add: typeof withOlder): Promise<void> {
    const { round } = reading.current;
    reading.current.pages++;
    try {
      const chat = await readRows(variables);
      if (!chat || round !== reading.current.round) return;
      const { missed } = reading.current;
      change((state) => ({ ...state, error: '', ...missed.reduce<Rows>(applyToRows, add(state, chat.messages)) }));
    } catch (errors) {
      change((state) => ({ ...state, error: textOf(errors) }));
    } finally {
      if (--reading.current.pages === 0) reading.current.missed = [];
    }
  }

  function apply(changed: Change): void {
    if (changed.__typename === 'ViewerChatChanged') {
      if (!changed.chat) return change((state) => ({ ...state, ...NO_ROWS, phase: 'gone' }));
      // The viewer has deleted the history on another device.
      if (changed.chat.newestMessage === null && latest.current.rows.length > 0) void begin();
    }
    // The chat exists for the viewer now: its first text has arrived, or the viewer is a member again.
    if (latest.current.phase === 'gone') return void ('chat' in changed && changed.chat && begin());
    if ('chat' in changed && !changed.chat && changed.__typename !== 'MessageDeleted' && changed.__typename !== 'SeenChanged') {
      return change((state) => ({ ...state, ...NO_ROWS, phase: 'gone' }));
    }
    if (reading.current.pages > 0) reading.current.missed.push(changed);
    change((state) => ({ ...state, ...applyToRows(state, changed), line: lineAfter(state, changed) }));
  }

  // The line moves to the first message that arrives while the page is hidden or has no focus.
  function lineAfter({ line }: State, changed: Change): number | null {
    if (changed.__typename !== 'MessageSent' || isAttentive()) return line;
    const seen = cardOf()?.viewerMember?.seenSequence ?? 0;
    if (line !== null && line > seen) return line;
    return firstUnread([changed.chatMessage], seen, viewer?.id) ?? line;
  }

  useChatChange((changed) => {
    if (changed.__typename === 'StreamGap') void begin();
    else if (changed.chatId !== chatId) return;
    else if (reading.current.waiting) reading.current.waiting.push(changed);
    else apply(changed);
  });
  useEffect(() => void begin(), [client, chatId]);
  // Reads again if the first read has failed without a connection.
  const isLive = chats.connection.phase === 'live';
  useEffect(() => {
    if (isLive && latest.current.phase === 'reading' && latest.current.error) void begin();
  }, [isLive]);
  const [last, ahead] = [lastOf(state), state.ahead[0]?.sequence];
  useEffect(() => {
    if (ahead === undefined) return;
    const timer = setTimeout(() => void readPage({ first: FIRST }, withNewest), GAP_WAIT_MS);
    return () => clearTimeout(timer);
  }, [last, ahead]);

  return {
    ...state,
    readOlder: () => readPage({ first: FIRST, after: state.older }, withOlder),
    readNewer: () => readPage({ last: FIRST, before: state.newer }, withNewer),
    readEnd: () => (state.newer === null ? change((state) => ({ ...state, scrollTarget: { to: 'end' } })) : readAt(null, () => ({ scrollTarget: { to: 'end' } }))),
    // Keeps the newest rows only, when too many have been read.
    shorten: () => readAt(null, () => ({ scrollTarget: { to: 'end' } })),
    // Shows a row, and reads it first if it has not been read.
    jumpTo(sequence: number) {
      const isRead = state.rows.some((row) => row.sequence === sequence);
      if (isRead) change((state) => ({ ...state, scrollTarget: { to: sequence } }));
      else void readAt(sequence, () => ({ scrollTarget: { to: sequence } }));
    },
  };
}

export type ChatRowsState = ReturnType<typeof useChatRows>;

const textOf = (errors: unknown) => (Array.isArray(errors) ? messageOf(errors as ErrorMessage[]) : String(errors));
