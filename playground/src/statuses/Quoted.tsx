// The status that a status quotes.
import { Link } from 'react-router';
import { Time } from '../ui/Time.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';

export function Quoted({ status: { isQuote, quotedStatus } }: { status: StatusCardFragment }) {
  if (!isQuote) return null;
  if (!quotedStatus) return <p className="quoted gone">The quoted status is not available.</p>;
  const { id, author, message, postedAt } = quotedStatus;
  return (
    <blockquote className="quoted">
      <p>
        <strong dir="auto">{author.name}</strong> <span className="login">@{author.login}</span>{' '}
        <Link to={`/conversation/${id}`} className="when">
          <Time at={postedAt} />
        </Link>
      </p>
      <p className="quoted-text" dir="auto">
        {message}
      </p>
    </blockquote>
  );
}
