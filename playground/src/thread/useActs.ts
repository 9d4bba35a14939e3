// The mutations of comments. Each returns its errors.
import { useMutation } from 'urql';
import { complaintsOf, type Complaint } from '../api/complaints.ts';
import type { CommentVote } from '../api/schema.generated.ts';
import { ThreadAddCommentDocument } from './operations/AddComment.generated.ts';
import { ThreadDeleteCommentDocument } from './operations/DeleteComment.generated.ts';
import { ThreadEditCommentDocument } from './operations/EditComment.generated.ts';
import { ThreadVoteCommentDocument } from './operations/VoteComment.generated.ts';
import type { ThreadState } from './useThread.ts';

export const MAX_LENGTH = 2_000;

// The parent of a comment is a status or another comment.
export type Under = { statusId: string } | { parentId: string };

export function useActs({ tree, change, own, removed }: Pick<ThreadState, 'tree' | 'change' | 'own' | 'removed'>) {
  const [, addComment] = useMutation(ThreadAddCommentDocument);
  const [, editComment] = useMutation(ThreadEditCommentDocument);
  const [, voteComment] = useMutation(ThreadVoteCommentDocument);
  const [, deleteComment] = useMutation(ThreadDeleteCommentDocument);
  return {
    async add(under: Under, message: string, idempotencyKey: string): Promise<Complaint[]> {
      const { data, error } = await addComment({ ...under, message, idempotencyKey });
      const comment = data?.addComment?.comment;
      if (comment) own(comment);
      return complaintsOf(error, data?.addComment);
    },
    async edit(commentId: string, message: string): Promise<Complaint[]> {
      const { data, error } = await editComment({ commentId, message });
      const comment = data?.editComment?.comment;
      if (comment) change(() => tree.refresh(comment));
      return complaintsOf(error, data?.editComment);
    },
    async vote(commentId: string, vote: CommentVote): Promise<Complaint[]> {
      const { data, error } = await voteComment({ commentId, vote });
      const comment = data?.voteComment?.comment;
      if (comment) change(() => tree.refresh(comment));
      return complaintsOf(error, data?.voteComment);
    },
    async remove(commentId: string, withReplies: boolean): Promise<Complaint[]> {
      const { data, error } = await deleteComment({ commentId, withReplies });
      const complaints = complaintsOf(error, data?.deleteComment);
      if (complaints.length === 0) removed(commentId);
      return complaints;
    },
  };
}

export type Acts = ReturnType<typeof useActs>;
