// One comment, with the actions that the viewer may perform.
import { useEffect, useRef, useState } from 'react';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { Message } from '../entities/Message.tsx';
import { PersonButton } from '../people/PersonButton.tsx';
import { useViewer } from '../session/useSession.ts';
import { ConfirmButton } from '../ui/ConfirmButton.tsx';
import { Time } from '../ui/Time.tsx';
import { WritingBox } from '../ui/WritingBox.tsx';
import { permissionsOf } from './permissions.ts';
import type { ThreadCommentFragment } from './fragments/ThreadComment.generated.ts';
import { MAX_LENGTH, type CommentActions } from './useCommentActions.ts';
import type { ThreadState } from './useThread.ts';
import { Votes } from './Votes.tsx';

const NUMBER = new Intl.NumberFormat();

interface Props {
  comment: ThreadCommentFragment;
  thread: ThreadState;
  acts: CommentActions;
}

export function CommentItem({ comment, thread, acts }: Props) {
  const viewer = useViewer();
  const [error, setError] = useState('');
  const [writing, setWriting] = useState<'Reply' | 'Save' | null>(null);
  const footer = useRef<HTMLElement>(null);
  const { id } = comment;
  const { tree, status, change } = thread;
  const may = permissionsOf(comment, tree, viewer, status?.author.id);
  // A draft belongs to the session in which it was written.
  useEffect(() => setWriting(null), [viewer?.id]);

  const showErrors = async (act: Promise<ErrorMessage[]>) => setError(messageOf(await act));
  const close = () => {
    // The focus returns to the button that opened the box.
    footer.current?.querySelector<HTMLElement>(writing === 'Save' ? '.edit' : '.reply')?.focus({ preventScroll: true });
    setWriting(null);
  };
  const send = (message: string, key: string) => (writing === 'Save' ? acts.edit(id, message) : acts.add({ parentId: id }, message, key));
  return (
    <article tabIndex={-1}>
      <Head comment={comment} to={tree.comment(comment.parent?.id)} />
      <Text comment={comment} />
      <footer ref={footer}>
        {!comment.isDeleted && !comment.isHidden && <Votes comment={comment} onVote={(vote) => showErrors(acts.vote(id, vote))} />}
        {may.collapse && (
          <button type="button" className="collapse quiet" aria-expanded={!tree.isCollapsed(id)} onClick={() => change(() => tree.toggle(id))}>
            {tree.isCollapsed(id) ? `Expand ${NUMBER.format(may.collapsedCount)}` : 'Collapse'}
          </button>
        )}
        {may.reply && (
          <button type="button" className="reply quiet" onClick={() => setWriting('Reply')}>
            Reply
          </button>
        )}
        {may.edit && (
          <button type="button" className="edit quiet" onClick={() => setWriting('Save')}>
            Edit
          </button>
        )}
        {may.edit && <DeleteButton label="Delete" act={() => showErrors(acts.remove(id, false))} />}
        {may.deleteWithReplies && <DeleteButton label={may.hasReplies ? 'Delete branch' : 'Delete'} act={() => showErrors(acts.remove(id, true))} />}
      </footer>
      <p className="error" role="alert">
        {error}
      </p>
      {writing && (
        <WritingBox
          key={writing}
          className="writing"
          label={writing}
          field="Message"
          rows={3}
          max={MAX_LENGTH}
          text={writing === 'Save' ? comment.message : ''}
          send={send}
          onSent={close}
          onCancel={close}
        />
      )}
    </article>
  );
}

function Text({ comment: { isDeleted, isHidden, message, entities } }: { comment: ThreadCommentFragment }) {
  if (isDeleted) return <p className="message">This comment was deleted.</p>;
  if (isHidden) return <p className="message">Comment by an account that you blocked or that blocked you.</p>;
  return <Message text={message} entities={entities} />;
}

function Head({ comment, to }: { comment: ThreadCommentFragment; to: ThreadCommentFragment | undefined }) {
  const { author, editedAt, postedAt } = comment;
  return (
    <header>
      {author && <PersonButton person={author} />} <span className="login">{author && `@${author.login}`}</span> <span className="to">{to?.author && `to @${to.author.login}`}</span>
      <span className="when">
        {editedAt && <span className="edited">edited · </span>}
        <Time at={postedAt} />
      </span>
    </header>
  );
}

const DeleteButton = ({ label, act }: { label: string; act: () => Promise<void> }) => (
  <ConfirmButton className="delete quiet" label={label} question="Delete for everybody?" act={act} />
);
