// The viewer's chats and the lists that they are in: the inbox, the archive, and the requests. Events change them in the order of the stream.
import type { ChatCardFragment } from './fragments/ChatCard.generated.ts';
import type { ChatCountsFragment } from './fragments/ChatCounts.generated.ts';
import type { ChatRowFragment } from './fragments/ChatRow.generated.ts';
import type { ChatEventsSubscription } from './operations/ChatEvents.generated.ts';

export type ChatCard = ChatCardFragment;
export type ChatRow = ChatRowFragment;
export type ChatEvent = ChatEventsSubscription['chatEvents'];
// An event, the row that a mutation of this page returned, or a change of the viewer's read receipts, which concerns all chats.
export type Change = ChatEvent | { __typename: 'RowRead'; chatId: string; chatMessage: ChatRow } | { __typename: 'ReceiptsChanged'; chatId: null };

export const LISTS = ['INBOX', 'ARCHIVED', 'REQUESTS'] as const;
export type ListName = (typeof LISTS)[number];

// The ids of the chats that have been read, the latest activity first.
export interface ChatList {
  ids: readonly string[];
  // The cursor of the next page; null at the end.
  next: string | null;
}

export interface ChatsState {
  chats: Readonly<Record<string, ChatCard>>;
  // Null until a list has been read.
  lists: Readonly<Record<ListName, ChatList | null>>;
  // Lists with a chat whose position is not known here. They are read again.
  stale: readonly ListName[];
}

export const NO_CHATS: ChatsState = { chats: {}, lists: { INBOX: null, ARCHIVED: null, REQUESTS: null }, stale: [] };

export function withPage(state: ChatsState, name: ListName, cards: readonly ChatCard[], next: string | null, isFirst: boolean): ChatsState {
  const added = cards.map(({ id }) => id);
  const before = isFirst ? [] : (state.lists[name]?.ids ?? []).filter((id) => !added.includes(id));
  const chats = { ...state.chats, ...Object.fromEntries(cards.map((card) => [card.id, card])) };
  return { ...state, chats, lists: { ...state.lists, [name]: { ids: [...before, ...added], next } } };
}

// Stores a card. Positions and sequences never decrease: responses may arrive in another order than the requests.
export function withCard(state: ChatsState, card: ChatCard): ChatsState {
  const before = state.chats[card.id];
  return { ...state, chats: { ...state.chats, [card.id]: before ? withLater(card, before) : card } };
}

function withLater(card: ChatCard, before: ChatCard): ChatCard {
  const [own, ownBefore] = [card.viewerMember, before.viewerMember];
  const isSeenFurther = own !== null && ownBefore !== null && (own.seenSequence ?? 0) < (ownBefore.seenSequence ?? 0);
  const seen = isSeenFurther ? { viewerMember: { ...ownBefore, role: own.role }, viewerUnreadCount: before.viewerUnreadCount } : {};
  const { newestSequence, newestMessage, viewerUnreadCount } = before;
  return { ...card, ...seen, ...(card.newestSequence < newestSequence && { newestSequence, newestMessage, viewerUnreadCount }) };
}

// Changes a chat that is known.
export function changeChat(state: ChatsState, id: string, change: (chat: ChatCard) => ChatCard): ChatsState {
  const chat = state.chats[id];
  return chat ? withCard(state, change(chat)) : state;
}

export function withCounts(state: ChatsState, counts: ChatCountsFragment): ChatsState {
  return changeChat(state, counts.id, (chat) => {
    const isOlder = (counts.viewerMember?.seenSequence ?? 0) < (chat.viewerMember?.seenSequence ?? 0);
    return isOlder ? chat : { ...chat, ...counts, newestSequence: Math.max(chat.newestSequence, counts.newestSequence) };
  });
}

export function withoutChat(state: ChatsState, id: string): ChatsState {
  const { [id]: _, ...chats } = state.chats;
  return { ...changeLists(state, (ids) => without(ids, id)), chats };
}

const without = (ids: readonly string[], id: string) => (ids.includes(id) ? ids.filter((it) => it !== id) : ids);

function changeLists(state: ChatsState, change: (ids: readonly string[], name: ListName) => readonly string[]): ChatsState {
  const entries = LISTS.map((name) => {
    const list = state.lists[name];
    return [name, list && { ...list, ids: change(list.ids, name) }];
  });
  return { ...state, lists: Object.fromEntries(entries) };
}

export function listOf({ viewerState, viewerHasArchived }: ChatCard): ListName | null {
  if (viewerState === 'DECLINED') return null;
  return viewerState === 'REQUEST' ? 'REQUESTS' : viewerHasArchived ? 'ARCHIVED' : 'INBOX';
}

// A new row moves its chat to the top.
function moveUp(state: ChatsState, card: ChatCard): ChatsState {
  const list = listOf(card);
  return changeLists(withCard(state, card), (ids, name) => (name === list ? [card.id, ...without(ids, card.id)] : without(ids, card.id)));
}

// Removes a chat from the lists to which it no longer belongs, and marks its list as stale if the chat is not in it yet, or if the viewer has deleted the
// history of the chat: no list of the server has such a chat.
export function place(state: ChatsState, card: ChatCard): ChatsState {
  const list = listOf(card);
  const placed = changeLists(withCard(state, card), (ids, name) => (name === list ? ids : without(ids, card.id)));
  const ids = list && placed.lists[list]?.ids;
  if (!ids || state.stale.includes(list)) return placed;
  const isDeleted = card.newestMessage === null && card.newestSequence > 0;
  return !ids.includes(card.id) || isDeleted ? { ...placed, stale: [...placed.stale, list] } : placed;
}

export function applyChange(state: ChatsState, change: Change): ChatsState {
  switch (change.__typename) {
    case 'MessageSent':
    case 'ChatMemberJoined':
    case 'ChatMemberLeft':
    case 'ChatMemberRoleChanged':
    case 'ChatRenamed': {
      const { chat, chatId, chatMessage } = change;
      if (!chat) return withoutChat(state, chatId);
      return chatMessage.isHidden ? place(state, chat) : moveUp(state, chat);
    }
    case 'ViewerChatChanged':
      return change.chat ? place(state, change.chat) : withoutChat(state, change.chatId);
    case 'SeenChanged':
      return change.chat ? withCounts(state, change.chat) : state;
    case 'MessageEdited':
    case 'ReactionChanged':
    case 'RowRead':
      return changeChat(state, change.chatId, (chat) => (chat.newestMessage?.id === change.chatMessage.id ? { ...chat, newestMessage: change.chatMessage } : chat));
    case 'MessageDeleted': {
      const counted = change.chat ? withCounts(state, change.chat) : state;
      const deleted = (chat: ChatCard) =>
        chat.newestMessage?.id === change.messageId ? { ...chat, newestMessage: deletedRow(chat.newestMessage) } : chat;
      return changeChat(counted, change.chatId, deleted);
    }
    default:
      return state;
  }
}

// A text as the server shows it after its deletion.
export const deletedRow = (row: ChatRow): ChatRow => ({ ...row, isDeleted: true, text: '', editedAt: null, replyTo: null, reactions: [] });
