// The statuses that an account has pinned, as links to their conversations.
import { Link } from 'react-router';
import type { PinnedStatusesFragment } from '../statuses/fragments/PinnedStatuses.generated.ts';

export function PinnedLinks({ person: { pinnedStatuses } }: { person: PinnedStatusesFragment }) {
  if (pinnedStatuses.length === 0) return null;
  return (
    <ul className="pinned-links" aria-label="Pinned">
      {pinnedStatuses.map(({ id, message }) => (
        <li key={id}>
          <Link to={`/conversation/${id}`} dir="auto">
            {message}
          </Link>
        </li>
      ))}
    </ul>
  );
}
