// The viewer's own account: whether it is private, and the requests that wait.
import { useEffect, useMemo, useState } from 'react';
import { Link } from 'react-router';
import { useClient } from 'urql';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { oneAtATime } from '../api/oneAtATime.ts';
import { read } from '../api/read.ts';
import { useViewer } from '../session/useSession.ts';
import { useBusy } from '../ui/useBusy.ts';
import { PersonOwnDocument, type PersonOwnQuery } from './operations/Own.generated.ts';
import { PrivateSwitch } from './PrivateSwitch.tsx';
import { Requests } from './Requests.tsx';

const FIRST = 20;

interface Props {
  // Counts the changes between the viewer and other accounts: each causes a read.
  changes: number;
}

export function OwnAccount({ changes }: Props) {
  const viewer = useViewer();
  return viewer && <Account key={viewer.id} changes={changes} />;
}

function Account({ changes }: Props) {
  const client = useClient();
  const [account, setAccount] = useState<PersonOwnQuery | null>(null);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const refresh = useMemo(
    () =>
      oneAtATime(async () => {
        try {
          setAccount(await read(client, PersonOwnDocument, { first: FIRST }));
          setError('');
        } catch (errors) {
          setError(messageOf(errors as ErrorMessage[]));
        }
      }),
    [client],
  );
  useEffect(() => void refresh(), [refresh, changes]);
  return (
    <section className="own-account" aria-label="Your account">
      <h2>Your account</h2>
      {account?.viewer && (
        <>
          <PrivateSwitch isPrivate={account.viewer.isPrivate} />
          <Requests follows={account.viewerFollowRequests} friends={account.viewerFriendRequests} />
        </>
      )}
      <p>
        <Link to="/account">Profile, e-mail, password and sessions</Link>
      </p>
      <p className="error" role="alert">
        {error}
      </p>
      <button type="button" className="quiet" aria-disabled={busy} onClick={() => void run(refresh)}>
        Refresh
      </button>
    </section>
  );
}
