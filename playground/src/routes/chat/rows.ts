// The rows of one chat that have been read: a range of all rows, oldest first and without a gap. Sequences have no gaps, so a row that arrives is
// inside of this range, directly after it, or further ahead.
import { deletedRow, type Change, type ChatRow } from './lists.ts';

export interface Rows {
  rows: readonly ChatRow[];
  // The cursors of the pages before and after; null at the end.
  older: string | null;
  newer: string | null;
  // Without rows: the number of the row before the next one.
  base: number;
  // Whether older rows were deleted: no page has them.
  isTrimmed: boolean;
  // Rows that arrived early: rows between them and the last one are missing.
  ahead: readonly ChatRow[];
}

export const NO_ROWS: Rows = { rows: [], older: null, newer: null, base: 0, isTrimmed: false, ahead: [] };

// A page, newest first.
interface Page {
  newestSequence: number;
  isTrimmed: boolean;
  edges: readonly { node: ChatRow }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
}

const rowsOf = ({ edges }: Page) => edges.map(({ node }) => node).reverse();
const olderOf = ({ pageInfo }: Page) => (pageInfo.hasNextPage ? pageInfo.endCursor : null);
const newerOf = ({ pageInfo }: Page) => (pageInfo.hasPreviousPage ? pageInfo.startCursor : null);

export const fromPage = (page: Page): Rows => ({
  rows: rowsOf(page),
  older: olderOf(page),
  newer: newerOf(page),
  base: page.newestSequence,
  isTrimmed: page.isTrimmed,
  ahead: [],
});

export function withOlder(state: Rows, page: Page): Rows {
  const first = state.rows[0]?.sequence ?? Infinity;
  return { ...state, rows: [...rowsOf(page).filter(({ sequence }) => sequence < first), ...state.rows], older: olderOf(page), isTrimmed: page.isTrimmed };
}

export function withNewer(state: Rows, page: Page): Rows {
  const last = lastOf(state);
  const rows = [...state.rows, ...rowsOf(page).filter(({ sequence }) => sequence > last)];
  return catchUp({ ...state, rows, newer: newerOf(page), isTrimmed: page.isTrimmed });
}

// Adds the newest rows. Earlier rows are kept, unless rows between them are missing.
export function withNewest(state: Rows, page: Page): Rows {
  const first = rowsOf(page)[0]?.sequence ?? Infinity;
  return first <= lastOf(state) + 1 ? withNewer(state, page) : fromPage(page);
}

// The number of the last row that has been read.
export const lastOf = ({ rows, base }: Pick<Rows, 'rows' | 'base'>) => rows.at(-1)?.sequence ?? base;

// Adds a row, or replaces it.
export function withRow(state: Rows, row: ChatRow): Rows {
  if (row.sequence <= lastOf(state)) return replaceRow(state, row);
  return catchUp({ ...state, ahead: [...state.ahead.filter(({ id }) => id !== row.id), row] });
}

// Appends the rows of `ahead` that directly follow the last one. If there is a newer page, the rows of `ahead` are read with it.
function catchUp(state: Rows): Rows {
  if (state.newer !== null) return { ...state, ahead: [] };
  const rows = [...state.rows];
  const ahead = state.ahead.toSorted((one, other) => one.sequence - other.sequence).filter(({ sequence }) => sequence > lastOf(state));
  while (ahead[0]?.sequence === lastOf({ rows, base: state.base }) + 1) rows.push(...ahead.splice(0, 1));
  return { ...state, rows, ahead };
}

// Changes a row, and its quotes in the rows that reply to it.
export function replaceRow(state: Rows, row: ChatRow): Rows {
  const { text, isDeleted, isHidden } = row;
  const changed = (other: ChatRow) => {
    if (other.id === row.id) return row;
    return other.replyTo?.id === row.id ? { ...other, replyTo: { ...other.replyTo, text, isDeleted, isHidden } } : other;
  };
  return { ...state, rows: state.rows.map(changed), ahead: state.ahead.map(changed) };
}

export function applyToRows(state: Rows, change: Change): Rows {
  switch (change.__typename) {
    case 'MessageSent':
    case 'ChatMemberJoined':
    case 'ChatMemberLeft':
    case 'ChatMemberRoleChanged':
    case 'ChatRenamed':
    case 'RowRead':
      return withRow(state, change.chatMessage);
    case 'MessageEdited':
    case 'ReactionChanged':
      return replaceRow(state, change.chatMessage);
    case 'MessageDeleted': {
      const row = [...state.rows, ...state.ahead].find(({ id }) => id === change.messageId);
      return row ? replaceRow(state, deletedRow(row)) : state;
    }
    default:
      return state;
  }
}

// The row before which the line "New messages" stands: the first unread text of another.
export function firstUnread(rows: readonly ChatRow[], seen: number, viewerId: string | undefined): number | null {
  const isUnread = (row: ChatRow) => row.sequence > seen && row.kind === 'TEXT' && !row.isDeleted && !row.isHidden && row.sender?.id !== viewerId;
  return rows.find(isUnread)?.sequence ?? null;
}
