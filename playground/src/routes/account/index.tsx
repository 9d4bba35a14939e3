// The viewer's account: the profile, the mail address, the login, the password and the sessions.
import { LogInHint } from '../../session/LogInHint.tsx';
import { useViewer } from '../../session/useSession.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { Account } from './Account.tsx';

export function Component() {
  useTitle('account');
  const viewer = useViewer();
  return (
    <main className="columns single account">
      <h1>Your account</h1>
      {viewer ? (
        <Account key={viewer.id} />
      ) : (
        <p>
          <LogInHint to="see your account" />
        </p>
      )}
    </main>
  );
}
