// Shows or hides in the viewer's home what a followed account reposts.
import { useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import { PersonSetRepostsShownDocument } from './operations/SetRepostsShown.generated.ts';

export function RepostsSwitch({ person: { id, viewerSeesReposts } }: { person: { id: string; viewerSeesReposts: boolean } }) {
  const [, setShown] = useMutation(PersonSetRepostsShownDocument);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const flip = async () => {
    const { data, error } = await setShown({ userId: id, shown: !viewerSeesReposts });
    setError(messageOf(errorMessagesOf(error, data?.setRepostsShown)));
  };
  return (
    <>
      <label>
        <input type="checkbox" role="switch" checked={viewerSeesReposts} aria-disabled={busy} onChange={() => void run(flip)} /> Show reposts in home
      </label>
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}
