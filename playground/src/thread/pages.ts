// Reads a thread a page at a time.
import type { Client } from 'urql';
import { read } from '../api/read.ts';
import type { CommentSort } from '../api/schema.generated.ts';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { ThreadCommentFragment } from './fragments/ThreadComment.generated.ts';
import { ThreadDocument } from './operations/Thread.generated.ts';

// After a gap, or in another order, as many comments are read as before, but at most this many pages.
const MAX_PAGES = 10;

// Thrown as `resume.js` expects it.
export const GONE = [{ message: 'There is no such status: it may have been deleted.', extensions: { code: 'NOT_FOUND' } }];

export interface Page {
  status: StatusCardFragment;
  syncCursor: string;
  comments: ThreadCommentFragment[];
  // The cursor of the next page; null at the end.
  next: string | null;
}

export async function readPage(client: Client, statusId: string, sort: CommentSort, after: string | null): Promise<Page> {
  const { node } = await read(client, ThreadDocument, { statusId, sort, after });
  if (node?.__typename !== 'Status' || !node.commentThread) throw GONE;
  const { commentThread, ...status } = node;
  const { edges, pageInfo } = commentThread.tree;
  const comments = edges.map((edge) => edge.node);
  return { status, syncCursor: commentThread.syncCursor, comments, next: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}

// Reads pages from the beginning until there are `count` comments. The sync cursor is that of the first page.
export async function readPages(client: Client, statusId: string, sort: CommentSort, count: number): Promise<Page> {
  const whole = await readPage(client, statusId, sort, null);
  for (let page = 1; page < MAX_PAGES && whole.next && whole.comments.length < count; page++) {
    const { comments, next } = await readPage(client, statusId, sort, whole.next);
    whole.comments.push(...comments);
    whole.next = next;
  }
  return whole;
}
