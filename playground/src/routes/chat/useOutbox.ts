// Texts that the server has not confirmed yet. Those of one chat are sent one after another, so that they keep their order. A text whose response was
// lost is sent again with its idempotency key, which does not double it. They stay in the tab when the page is left or loaded again.
import { createContext, use, useEffect, useRef } from 'react';
import { useClient, type CombinedError } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { newKey } from '../../api/new-key.ts';
import { decideReconnect } from '../../live/reconnect.js';
import { currentToken } from '../../session/store.ts';
import { useSession } from '../../session/useSession.ts';
import type { ChatRow } from './lists.ts';
import { ChatSendDocument } from './operations/ChatSend.generated.ts';
import type { Chats } from './useChats.ts';
import { useLatest } from './useLatest.ts';

export interface Unsent {
  // The idempotency key.
  key: string;
  chatId: string;
  text: string;
  replyTo: ChatRow | null;
  // The last row that was known when the text was written.
  after: number;
  // `waiting` is sent by itself, `refused` only by the viewer.
  state: 'waiting' | 'sending' | 'refused';
  error: string;
}

export function useOutbox(chats: Chats) {
  const client = useClient();
  const { session } = useSession();
  const [token, key] = [session?.token, `waxwing.outbox.${session?.user.id}`];
  const [texts, change, latest] = useLatest<readonly Unsent[]>(() => load(key));
  useEffect(() => save(key, texts), [key, texts]);
  // Nothing stays after a log-out.
  useEffect(() => () => void (currentToken() === token || save(key, [])), [key, token]);
  const isOver = useRef(false);
  useEffect(() => {
    isOver.current = false;
    return () => void (isOver.current = true);
  }, []);
  const keep = useRef(chats.keepRow);
  keep.current = chats.keepRow;
  const update = (key: string, next: Partial<Unsent>) => change((texts) => texts.map((it) => (it.key === key ? { ...it, ...next } : it)));
  const discard = (key: string) => change((texts) => texts.filter((it) => it.key !== key));

  async function run(chatId: string): Promise<void> {
    const own = latest.current.filter((it) => it.chatId === chatId && it.state !== 'refused');
    const [text] = own;
    if (!text || isOver.current || own.some(({ state }) => state === 'sending')) return;
    update(text.key, { state: 'sending', error: '' });
    const input = { chatId, text: text.text, replyToId: text.replyTo?.id ?? null, idempotencyKey: text.key };
    const response = await Promise.race([client.mutation(ChatSendDocument, { input }).toPromise(), timeout()]);
    // The page was left: the next one sends it again.
    if (isOver.current) return;
    const { data, error } = response ?? {};
    const row = data?.result?.chatMessage;
    if (row) {
      keep.current(chatId, row);
      discard(text.key);
    } else {
      const wait = response === null ? { seconds: null } : waitOf(error);
      const message = response === null ? LOST : messageOf(errorMessagesOf(error, data?.result));
      update(text.key, { state: wait ? 'waiting' : 'refused', error: message });
      if (wait?.seconds) setTimeout(() => void run(chatId), wait.seconds * 1_000);
      // The texts after it wait, too.
      if (wait) return;
    }
    return run(chatId);
  }

  const isLive = chats.connection.phase === 'live';
  useEffect(() => {
    if (isLive) new Set(latest.current.map(({ chatId }) => chatId)).forEach((chatId) => void run(chatId));
  }, [isLive]);

  return {
    texts,
    send(chatId: string, text: string, replyTo: ChatRow | null, after: number) {
      change((texts) => [...texts, { key: newKey(), chatId, text, replyTo, after, state: 'waiting', error: '' }]);
      void run(chatId);
    },
    sendAgain({ key, chatId }: Unsent) {
      update(key, { state: 'waiting', error: '' });
      void run(chatId);
    },
    discard,
  };
}

// A response that has not come by then is lost.
const TIMEOUT_MS = 20_000;
const LOST = 'The server has not responded.';
const timeout = () => new Promise<null>((resolve) => setTimeout(resolve, TIMEOUT_MS, null));

// A browser may refuse storage: then the texts last as long as the page.
function load(key: string): readonly Unsent[] {
  try {
    const texts: Unsent[] = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return texts.map((text) => (text.state === 'sending' ? { ...text, state: 'waiting' } : text));
  } catch {
    return [];
  }
}

function save(key: string, texts: readonly Unsent[]): void {
  try {
    if (texts.length > 0) sessionStorage.setItem(key, JSON.stringify(texts));
    else sessionStorage.removeItem(key);
  } catch {
    // See load().
  }
}

// When the same request may succeed: after the seconds that the server named, or with the next connection. Null if it never does.
function waitOf(error: CombinedError | undefined): { seconds: number | null } | null {
  if (!error) return null;
  const decision = error.graphQLErrors.length > 0 ? decideReconnect(error.graphQLErrors) : { seconds: null };
  return decision.phase === undefined ? decision : null;
}

export type Outbox = ReturnType<typeof useOutbox>;

const EMPTY: Outbox = { texts: [], send() {}, sendAgain() {}, discard() {} };
export const OutboxContext = createContext<Outbox>(EMPTY);
export const useTexts = () => use(OutboxContext);

// The texts of a chat without those whose rows have arrived, by an event before the response.
export function unconfirmed(texts: readonly Unsent[], rows: readonly ChatRow[], viewerId: string | undefined): Unsent[] {
  const taken = new Set<string>();
  return texts.filter(({ text, after }) => {
    const isRow = (row: ChatRow) => row.sequence > after && row.sender?.id === viewerId && row.text === text.trim() && !taken.has(row.id);
    const row = rows.find(isRow);
    if (row) taken.add(row.id);
    return !row;
  });
}
