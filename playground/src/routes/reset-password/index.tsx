// The page of the link that resets a password. It sets the new one and logs in.
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { publicClient } from '../../api/client.ts';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { begin } from '../../session/actions.ts';
import { useLinkToken } from '../../session/useLinkToken.ts';
import { Form } from '../../ui/Form.tsx';
import { PasswordField } from '../../ui/PasswordField.tsx';
import { useFocusedHeading } from '../../ui/useFocusedHeading.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { ResetPasswordDocument } from './operations/ResetPassword.generated.ts';

export function Component() {
  useTitle('reset password');
  const { token, forget } = useLinkToken();
  return (
    <main className="columns single">
      <div className="panel">{token ? <Reset key={token} token={token} onUsed={forget} /> : <NoToken />}</div>
    </main>
  );
}

function Reset({ token, onUsed }: { token: string; onUsed: () => void }) {
  const hint = useId();
  const [user, setUser] = useState<{ login: string; name: string } | null>(null);
  const [isInvalid, setIsInvalid] = useState(false);
  const act = async (fields: FormData) => {
    const newPassword = String(fields.get('newPassword') ?? '');
    const { data, error } = await publicClient.mutation(ResetPasswordDocument, { token, newPassword }).toPromise();
    const begun = data?.resetPassword?.session;
    const errors = errorMessagesOf(error, data?.resetPassword);
    setIsInvalid(errors.some(({ path }) => path.includes('token')));
    if (begun) {
      setUser(begun.user);
      begin(begun);
      onUsed();
    }
    return errors;
  };
  if (user) return <Changed login={user.login} name={user.name} />;
  return (
    <>
      <h1>Choose a new password</h1>
      <Form
        label="Choose a new password"
        act={act}
        button={(busy) => (
          <button className="primary" aria-disabled={busy}>
            Set password and log in
          </button>
        )}
      >
        <PasswordField label="New password" name="newPassword" isNew hint={hint} />
        <p className="hint" id={hint}>
          8 to 128 characters. You are logged out on all devices.
        </p>
      </Form>
      {isInvalid && <AnotherLink />}
    </>
  );
}

function Changed({ login, name }: { login: string; name: string }) {
  const heading = useFocusedHeading();
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        Your password is changed
      </h1>
      <p className="done" role="status">
        You are logged in as <strong dir="auto">{name}</strong> ({login}). All other sessions have ended.
      </p>
      <p className="links">
        <Link to="/home">Home</Link>
        <Link to="/account">Your account</Link>
      </p>
    </>
  );
}

function NoToken() {
  return (
    <>
      <h1>Choose a new password</h1>
      <p className="error" role="alert">
        This page needs the whole link of the message.
      </p>
      <AnotherLink />
    </>
  );
}

const AnotherLink = () => (
  <p>
    A link is valid once, for 30 minutes, and until the next one is sent. <Link to="/forgot-password">Send another link</Link>
  </p>
);
