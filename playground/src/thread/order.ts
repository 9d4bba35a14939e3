// The five orders of comments beside each other, as the server has them: where a new comment belongs among those that are shown.
import type { CommentSort } from '../api/schema.generated.ts';
import type { ThreadCommentFragment as Comment } from './fragments/ThreadComment.generated.ts';

const KEYS: Record<Exclude<CommentSort, 'OLD'>, (comment: Comment) => number> = {
  TOP: ({ score }) => score,
  REPLIES: ({ replyCount }) => replyCount,
  CONTROVERSIAL: controversy,
  NEW: () => 0,
};

// Whether `one` is read before `other`. Of two that tie the later one is first, and `one` is the later where both came in the same moment.
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
