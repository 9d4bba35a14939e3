// The viewer's own account: whether it is private, and the requests that wait.
import { useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useViewer } from '../session/useSession.ts';
import { useBusy } from '../ui/useBusy.ts';
import { PersonOwnDocument } from './operations/Own.generated.ts';
import { PrivateSwitch } from './PrivateSwitch.tsx';
import { Requests } from './Requests.tsx';

const FIRST = 20;

export function OwnAccount() {
  const viewer = useViewer();
  return viewer && <Account key={viewer.id} />;
}

function Account() {
  const [{ data, error }, read] = useQuery({ query: PersonOwnDocument, variables: { first: FIRST }, requestPolicy: 'cache-and-network' });
  const [busy, run] = useBusy();
  const refresh = async () => read({ requestPolicy: 'network-only' });
  return (
    <section className="own-account" aria-label="Your account">
      <h2>Your account</h2>
      {data?.viewer && (
        <>
          <PrivateSwitch isPrivate={data.viewer.isPrivate} />
          <Requests follows={data.viewerFollowRequests} friends={data.viewerFriendRequests} />
          <button type="button" className="quiet" aria-disabled={busy} onClick={() => void run(refresh)}>
            Refresh
          </button>
        </>
      )}
      <p className="error" role="alert">
        {messageOf(errorMessagesOf(error))}
      </p>
    </section>
  );
}
