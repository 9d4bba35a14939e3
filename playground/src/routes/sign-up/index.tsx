// Creates an account. A mail address is optional.
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { publicClient } from '../../api/client.ts';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { begin } from '../../session/actions.ts';
import { OutboxHint } from '../../session/OutboxHint.tsx';
import { useViewer } from '../../session/useSession.ts';
import { EmailField } from '../../ui/EmailField.tsx';
import { Form, TextField } from '../../ui/Form.tsx';
import { PasswordField } from '../../ui/PasswordField.tsx';
import { useFocusedHeading } from '../../ui/useFocusedHeading.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { SignUpDocument } from './operations/SignUp.generated.ts';

export function Component() {
  useTitle('sign up');
  const viewer = useViewer();
  // The address to which a link was sent, or an empty text; null before the sign-up.
  const [sentTo, setSentTo] = useState<string | null>(null);
  return (
    <main className="columns single">
      <div className="panel">{viewer ? <Welcome name={viewer.name} isNew={sentTo !== null} sentTo={sentTo} /> : <SignUp onDone={setSentTo} />}</div>
    </main>
  );
}

function SignUp({ onDone }: { onDone: (sentTo: string) => void }) {
  const id = useId();
  const act = async (fields: FormData) => {
    const text = (name: string) => String(fields.get(name) ?? '');
    const email = text('email').trim();
    const input = { login: text('login'), name: text('name') || text('login'), password: text('password'), email: email || null };
    const { data, error } = await publicClient.mutation(SignUpDocument, { input }).toPromise();
    const begun = data?.signUp?.session;
    if (begun) {
      onDone(email);
      begin(begun);
    }
    return errorMessagesOf(error, data?.signUp);
  };
  return (
    <>
      <h1>Sign up</h1>
      <Form
        label="Sign up"
        act={act}
        button={(busy) => (
          <button className="primary" aria-disabled={busy}>
            Sign up
          </button>
        )}
      >
        <TextField label="Login" name="login" required spellCheck={false} autoCapitalize="none" autoComplete="username" hint={`${id}login`} />
        <p className="hint" id={`${id}login`}>
          Up to 30 letters A–Z, digits and underscores. Others can find your account by it.
        </p>
        <TextField label="Name" name="name" autoComplete="name" hint={`${id}name`} />
        <p className="hint" id={`${id}name`}>
          Up to 50 characters, shown with your posts. Without one, it is your login.
        </p>
        <PasswordField label="Password" name="password" isNew hint={`${id}password`} />
        <p className="hint" id={`${id}password`}>
          8 to 128 characters.
        </p>
        <EmailField label="E-mail (optional)" hint={`${id}email`} />
        <p className="hint" id={`${id}email`}>
          Without one, a forgotten password cannot be reset. Only you see it.
        </p>
      </Form>
    </>
  );
}

function Welcome({ name, isNew, sentTo }: { name: string; isNew: boolean; sentTo: string | null }) {
  const heading = useFocusedHeading(isNew);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {isNew ? (
          <>
            Welcome, <span dir="auto">{name}</span>
          </>
        ) : (
          'You have an account'
        )}
      </h1>
      {sentTo ? (
        <>
          <p>
            A link was sent to <strong>{sentTo}</strong>. Open it within 24 hours to confirm the address.
          </p>
          <OutboxHint />
        </>
      ) : (
        !isNew && <p>Log out above to sign up as somebody else.</p>
      )}
      <p className="links">
        <Link to="/home">Home</Link>
        <Link to="/account">Your account</Link>
      </p>
    </>
  );
}
