// The text of a status: the box that changes it, and the list of its versions.
import { useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { Time } from '../ui/Time.tsx';
import { WritingBox } from '../ui/WritingBox.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import type { StatusChange } from './LikeButton.tsx';
import { StatusEditDocument } from './operations/EditStatus.generated.ts';
import { StatusVersionsDocument } from './operations/Versions.generated.ts';

export const MAX_LENGTH = 500;

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onClose: () => void;
}

export function EditBox({ status, onChange, onClose }: Props) {
  const [, edit] = useMutation(StatusEditDocument);
  const send = async (message: string) => {
    const { data, error } = await edit({ statusId: status.id, message });
    if (data?.editStatus?.status) onChange(data.editStatus.status);
    return errorMessagesOf(error, data?.editStatus);
  };
  return (
    <WritingBox className="writing" label="Save" field="Message" rows={3} max={MAX_LENGTH} text={status.message} send={send} onSent={onClose} onCancel={onClose} />
  );
}

// The mark of an edited status, which opens its versions.
export function EditedMark({ status: { id, editedAt } }: { status: StatusCardFragment }) {
  const [isOpen, setIsOpen] = useState(false);
  if (!editedAt) return null;
  return (
    <details className="versions" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        edited <Time at={editedAt} />
      </summary>
      {isOpen && <Versions key={editedAt} id={id} />}
    </details>
  );
}

function Versions({ id }: { id: string }) {
  const [{ data, error }] = useQuery({ query: StatusVersionsDocument, variables: { id }, requestPolicy: 'network-only' });
  const versions = data?.node && 'edits' in data.node ? data.node.edits.edges : [];
  return (
    <>
      <ol aria-label="Versions">
        {versions.map(({ cursor, node: { message, createdAt } }) => (
          <li key={cursor}>
            <span className="when">
              <Time at={createdAt} />
            </span>{' '}
            <span className="text" dir="auto">
              {message}
            </span>
          </li>
        ))}
      </ol>
      <p className="error" role="alert">
        {error && messageOf(errorMessagesOf(error, null))}
      </p>
    </>
  );
}
