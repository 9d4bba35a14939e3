// The tags that the viewer follows: links, each with a button that ends the follow.
import { useRef, useState } from 'react';
import { Link } from 'react-router';
import { useQuery } from 'urql';
import { useBusy } from '../ui/useBusy.ts';
import { FollowedTagsDocument } from './operations/FollowedTags.generated.ts';
import { useFollowTag } from './useFollowTag.ts';
import './tags.css';

const FIRST = 100;

export function FollowedTags({ onChange }: { onChange: () => void }) {
  const [{ data }] = useQuery({ query: FollowedTagsDocument, variables: { first: FIRST }, requestPolicy: 'cache-and-network' });
  const follow = useFollowTag();
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const section = useRef<HTMLElement>(null);
  const unfollow = async (name: string) => {
    const message = await follow(name, false);
    setError(message);
    if (message) return;
    // The button that had the focus disappears.
    section.current?.focus({ preventScroll: true });
    onChange();
  };
  const tags = data?.viewerFollowedTags?.edges ?? [];
  return (
    <section className="followed-tags" aria-label="Followed tags" ref={section} tabIndex={-1}>
      {tags.length > 0 && (
        <ul>
          {tags.map(({ node: { id, name } }) => (
            <li key={id}>
              <Link to={`/tag/${encodeURIComponent(name)}`} dir="auto">
                #{name}
              </Link>
              <button type="button" className="quiet" aria-label={`Unfollow #${name}`} aria-disabled={busy} onClick={() => void run(() => unfollow(name))}>
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="error" role="alert">
        {error}
      </p>
    </section>
  );
}
