// The counts and actions of a status.
import { useMutation } from 'urql';
import { Link } from 'react-router';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useViewer } from '../session/useSession.ts';
import { ConfirmButton } from '../ui/ConfirmButton.tsx';
import { BookmarkButton } from './BookmarkButton.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import { LikeButton, type StatusChange } from './LikeButton.tsx';
import { StatusDeleteDocument } from './operations/DeleteStatus.generated.ts';
import { PinButton } from './PinButton.tsx';
import { StatusReplyPolicyMenu } from './ReplyPolicyMenu.tsx';
import { RepostButton } from './RepostButton.tsx';
import { StatusAudienceMenu } from './StatusAudience.tsx';

const NUMBER = new Intl.NumberFormat();
const DEGREES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export interface ThreadButton {
  isOpen: boolean;
  toggle: () => void;
}

// The boxes that buttons of a card open.
export type Writing = 'edit' | 'quote' | 'reply';

export interface ActionProps {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  // Called after the deletion. A list with events needs none: the event removes the status.
  onDelete?: (id: string) => void;
  // The button that opens the thread beside a list. Without it, a link leads to the thread.
  thread?: ThreadButton;
  // The page that shows the status: its thread, its conversation, or the conversation of which it is the subject.
  within?: 'thread' | 'conversation' | 'subject';
}

interface Props extends ActionProps {
  onError: (message: string) => void;
  onWrite: (what: Writing) => void;
}

export function StatusActions({ status, onChange, onDelete, thread, within, onError, onWrite }: Props) {
  const { id, author, audience, replyCount, quoteCount, viewerCanReply, location } = status;
  const viewer = useViewer();
  const isOwn = viewer?.id === author.id;
  const isInConversation = within === 'conversation' || within === 'subject';
  const parts = { status, onChange, onError };
  const write = (what: Writing, label: string) => (
    <button type="button" className={`${what} quiet`} onClick={() => onWrite(what)}>
      {label}
    </button>
  );
  return (
    <>
      {within !== 'thread' && <CommentCount status={status} thread={thread} />}
      {!isInConversation && <Link to={`/conversation/${id}`}>{countText(replyCount, 'reply', 'replies')}</Link>}
      {isInConversation && viewer && viewerCanReply && write('reply', 'Reply')}
      <LikeButton {...parts} />
      <RepostButton {...parts} />
      {quoteCount > 0 && <Link to={`/conversation/${id}/quotes`}>{countText(quoteCount, 'quote', 'quotes')}</Link>}
      {viewer && audience === 'PUBLIC' && write('quote', 'Quote')}
      <BookmarkButton {...parts} />
      {location && <span className="place">{placeText(location)}</span>}
      {isOwn && (
        <span className="own">
          <StatusAudienceMenu {...parts} />
          {within === 'subject' && <StatusReplyPolicyMenu {...parts} />}
          <PinButton id={id} onError={onError} />
          {write('edit', 'Edit')}
          <DeleteButton id={id} onError={onError} onDelete={onDelete} />
        </span>
      )}
    </>
  );
}

function CommentCount({ status: { id, commentCount }, thread }: Pick<ActionProps, 'status' | 'thread'>) {
  const text = countText(commentCount, 'comment', 'comments');
  if (!thread) return <Link to={`/thread/${id}`}>{text}</Link>;
  return (
    <button type="button" className="comments quiet" aria-expanded={thread.isOpen} onClick={thread.toggle}>
      {text}
    </button>
  );
}

interface DeleteProps {
  id: string;
  onError: (message: string) => void;
  onDelete?: (id: string) => void;
}

function DeleteButton({ id, onError, onDelete }: DeleteProps) {
  const [, remove] = useMutation(StatusDeleteDocument);
  const act = async () => {
    const { data, error } = await remove({ statusId: id });
    const errors = errorMessagesOf(error, data?.deleteStatus);
    onError(messageOf(errors));
    if (errors.length === 0) onDelete?.(id);
  };
  return <ConfirmButton className="delete quiet" label="Delete" question="Delete for everybody?" act={act} />;
}

export const countText = (count: number, one: string, many: string) => `${NUMBER.format(count)} ${count === 1 ? one : many}`;

function placeText({ latitude, longitude }: { latitude: number; longitude: number }): string {
  const north = latitude < 0 ? 'S' : 'N';
  const east = longitude < 0 ? 'W' : 'E';
  return `${DEGREES.format(Math.abs(latitude))}° ${north}, ${DEGREES.format(Math.abs(longitude))}° ${east}`;
}
