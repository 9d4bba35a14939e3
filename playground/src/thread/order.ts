// The five sort orders of sibling comments, equal to those of the server, to insert a new comment at its place.
import type { CommentSort } from '../api/schema.generated.ts';
import type { ThreadCommentFragment as Comment } from './fragments/ThreadComment.generated.ts';

const KEYS: Record<Exclude<CommentSort, 'OLD'>, (comment: Comment) => number> = {
  TOP: ({ score }) => score,
  REPLIES: ({ replyCount }) => replyCount,
  CONTROVERSIAL: controversy,
  NEW: () => 0,
};

// Whether `one` comes before `other`. Of two equal comments the later one is first; at the same time, `one` is.
export function isBefore(sort: CommentSort, one: Comment, other: Comment): boolean {
  const later = Date.parse(one.postedAt) - Date.parse(other.postedAt);
  if (sort === 'OLD') return later < 0;
  const more = KEYS[sort](one) - KEYS[sort](other);
  return more === 0 ? later >= 0 : more > 0;
}

// Many votes, evenly shared.
function controversy({ upvoteCount: up, downvoteCount: down }: Comment): number {
  return up && down ? (up + down) ** (Math.min(up, down) / Math.max(up, down)) : 0;
}
