// One status: author, message and actions.
import { useEffect, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { PersonButton } from '../people/PersonButton.tsx';
import { useViewer } from '../session/useSession.ts';
import { ConfirmButton } from '../ui/ConfirmButton.tsx';
import { Time } from '../ui/Time.tsx';
import { EditBox, EditedMark } from './EditStatus.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import { LikeButton, type StatusChange } from './LikeButton.tsx';
import { StatusDeleteDocument } from './operations/DeleteStatus.generated.ts';
import { RepostButton } from './RepostButton.tsx';
import { AudienceMark, StatusAudienceMenu } from './StatusAudience.tsx';
import './statuses.css';

const NUMBER = new Intl.NumberFormat();
const DEGREES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

export interface ThreadButton {
  isOpen: boolean;
  toggle: () => void;
}

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  // The button that opens the thread. Omitted within the thread.
  thread?: ThreadButton;
}

export function StatusCard({ status, onChange, thread }: Props) {
  const { author, message, postedAt, commentCount, location } = status;
  const [error, setError] = useState('');
  const viewer = useViewer();
  const isOwn = viewer?.id === author.id;
  const [isEditing, setIsEditing] = useState(false);
  const footer = useRef<HTMLElement>(null);
  // A draft belongs to the session in which it was written.
  useEffect(() => setIsEditing(false), [viewer?.id]);
  const closeEditor = () => {
    footer.current?.querySelector<HTMLElement>('.edit')?.focus({ preventScroll: true });
    setIsEditing(false);
  };
  return (
    <article className="status">
      <header>
        <PersonButton person={author} /> <span className="login">@{author.login}</span> <AudienceMark status={status} />
        <span className="when">
          <Time at={postedAt} />
        </span>
      </header>
      <p className="message" dir="auto">
        {message}
      </p>
      <EditedMark status={status} />
      <footer ref={footer}>
        {thread && (
          <button type="button" className="comments quiet" aria-expanded={thread.isOpen} onClick={thread.toggle}>
            {NUMBER.format(commentCount)} {commentCount === 1 ? 'comment' : 'comments'}
          </button>
        )}
        <LikeButton status={status} onChange={onChange} onError={setError} />
        <RepostButton status={status} onChange={onChange} onError={setError} />
        {location && <span className="place">{placeText(location)}</span>}
        {isOwn && <StatusAudienceMenu status={status} onChange={onChange} onError={setError} />}
        {isOwn && (
          <button type="button" className="edit quiet" onClick={() => setIsEditing(true)}>
            Edit
          </button>
        )}
        {isOwn && <DeleteButton id={status.id} onError={setError} />}
      </footer>
      <p className="error" role="alert">
        {error}
      </p>
      {isOwn && isEditing && <EditBox status={status} onChange={onChange} onClose={closeEditor} />}
    </article>
  );
}

// The event of the deletion removes the status from the list.
function DeleteButton({ id, onError }: { id: string; onError: (message: string) => void }) {
  const [, remove] = useMutation(StatusDeleteDocument);
  const act = async () => {
    const { data, error } = await remove({ statusId: id });
    onError(messageOf(errorMessagesOf(error, data?.deleteStatus)));
  };
  return <ConfirmButton className="delete quiet" label="Delete" question="Delete for everybody?" act={act} />;
}

function placeText({ latitude, longitude }: { latitude: number; longitude: number }): string {
  const north = latitude < 0 ? 'S' : 'N';
  const east = longitude < 0 ? 'W' : 'E';
  return `${DEGREES.format(Math.abs(latitude))}° ${north}, ${DEGREES.format(Math.abs(longitude))}° ${east}`;
}
