// Follows a tag or ends the follow. Disabled without a session.
import { useState } from 'react';
import { ToggleButton } from '../statuses/ToggleButton.tsx';
import { useBusy } from '../ui/useBusy.ts';
import type { TagCardFragment } from './fragments/TagCard.generated.ts';
import { useFollowTag } from './useFollowTag.ts';

export function FollowTagButton({ tag: { name, viewerIsFollowing } }: { tag: TagCardFragment }) {
  const follow = useFollowTag();
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const press = async () => setError(await follow(name, !viewerIsFollowing));
  return (
    <>
      <ToggleButton className="follow-tag" label="Follow" icons={['+', '✓']} isOn={viewerIsFollowing} title="Log in to follow the tag" busy={busy} onPress={() => void run(press)} />
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}
