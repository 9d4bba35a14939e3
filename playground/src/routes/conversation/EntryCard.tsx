// The status of an entry, or the placeholder of one that is deleted or hidden. The response does not show which of the two.
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { StatusCard } from '../../statuses/StatusCard.tsx';

interface Props {
  status: StatusCardFragment | null;
  isSubject?: boolean;
  onChange: (change: StatusChange) => void;
  onDelete: (id: string) => void;
  onReply: (reply: StatusCardFragment) => void;
}

export function EntryCard({ status, isSubject, ...props }: Props) {
  if (!status) return <p className="placeholder">This status is not available.</p>;
  return <StatusCard status={status} within={isSubject ? 'subject' : 'conversation'} {...props} />;
}
