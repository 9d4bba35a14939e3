// The mutations of comments. Each returns its errors.
import { useMutation } from 'urql';
import { errorMessagesOf, type ErrorMessage } from '../api/errorMessages.ts';
import type { CommentVote } from '../api/schema.generated.ts';
import { ThreadAddCommentDocument } from './operations/AddComment.generated.ts';
import { ThreadDeleteCommentDocument } from './operations/DeleteComment.generated.ts';
import { ThreadEditCommentDocument } from './operations/EditComment.generated.ts';
import { ThreadVoteCommentDocument } from './operations/VoteComment.generated.ts';
import type { ThreadState } from './useThread.ts';

export const MAX_LENGTH = 2_000;

// The parent of a comment is a status or another comment.
export type CommentParent = { statusId: string } | { parentId: string };

export function useCommentActions({ tree, change, own, removed }: Pick<ThreadState, 'tree' | 'change' | 'own' | 'removed'>) {
  const [, addComment] = useMutation(ThreadAddCommentDocument);
  const [, editComment] = useMutation(ThreadEditCommentDocument);
  const [, voteComment] = useMutation(ThreadVoteCommentDocument);
  const [, deleteComment] = useMutation(ThreadDeleteCommentDocument);
  return {
    async add(parent: CommentParent, message: string, idempotencyKey: string): Promise<ErrorMessage[]> {
      const { data, error } = await addComment({ ...parent, message, idempotencyKey });
      const comment = data?.addComment?.comment;
      if (comment) own(comment);
      return errorMessagesOf(error, data?.addComment);
    },
    async edit(commentId: string, message: string): Promise<ErrorMessage[]> {
      const { data, error } = await editComment({ commentId, message });
      const comment = data?.editComment?.comment;
      if (comment) change(() => tree.update(comment));
      return errorMessagesOf(error, data?.editComment);
    },
    async vote(commentId: string, vote: CommentVote): Promise<ErrorMessage[]> {
      const { data, error } = await voteComment({ commentId, vote });
      const comment = data?.voteComment?.comment;
      if (comment) change(() => tree.update(comment));
      return errorMessagesOf(error, data?.voteComment);
    },
    async remove(commentId: string, withReplies: boolean): Promise<ErrorMessage[]> {
      const { data, error } = await deleteComment({ commentId, withReplies });
      const errors = errorMessagesOf(error, data?.deleteComment);
      if (errors.length === 0) removed(commentId);
      return errors;
    },
  };
}

export type CommentActions = ReturnType<typeof useCommentActions>;
