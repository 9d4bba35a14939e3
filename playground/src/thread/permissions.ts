// The actions on a comment that the viewer may perform, and the values of their buttons.
import type { ThreadCommentFragment } from './fragments/ThreadComment.generated.ts';
import type { CommentTree } from './tree.ts';

export function permissionsOf(comment: ThreadCommentFragment, tree: CommentTree, viewer: { id: string } | null, statusAuthor: string | undefined) {
  const below = tree.descendants(comment.id).flatMap((id) => tree.comment(id) ?? []);
  const isOwn = Boolean(viewer) && comment.author?.id === viewer?.id;
  const isOwnStatus = Boolean(viewer) && statusAuthor === viewer?.id;
  const hasReplies = below.length > 0 || comment.descendantCount > 0;
  const isAllOwn = isOwn && below.every(({ isDeleted, author }) => isDeleted || author?.id === viewer?.id);
  const presentCount = below.filter(({ isDeleted }) => !isDeleted).length;
  return {
    reply: Boolean(viewer) && !comment.isDeleted && !comment.isHidden,
    edit: isOwn,
    // Any comment under one's own status; elsewhere only if all replies are one's own.
    deleteWithReplies: isOwnStatus ? !isOwn || hasReplies : isAllOwn && hasReplies,
    hasReplies,
    collapse: below.length > 0,
    // The number of comments that collapsing hides: those that were read, or the server's count if it is greater.
    collapsedCount: Math.max(presentCount, tree.mayHaveMore(comment.id) ? comment.descendantCount : 0),
  };
}
