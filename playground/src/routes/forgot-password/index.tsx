// Requests a link that resets the password. The page says the same for every address, as the server does.
import { useId, useState } from 'react';
import { publicClient } from '../../api/client.ts';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { OutboxHint } from '../../session/OutboxHint.tsx';
import { Done } from '../../ui/Done.tsx';
import { EmailField } from '../../ui/EmailField.tsx';
import { Form } from '../../ui/Form.tsx';
import { useTitle } from '../../ui/useTitle.ts';
import { RequestPasswordResetDocument } from './operations/RequestPasswordReset.generated.ts';

export function Component() {
  useTitle('forgot password');
  const id = useId();
  const [requested, setRequested] = useState('');
  const act = async (fields: FormData) => {
    const email = String(fields.get('email') ?? '').trim();
    setRequested('');
    const { data, error } = await publicClient.mutation(RequestPasswordResetDocument, { email }).toPromise();
    if (data?.requestPasswordReset?.accepted) setRequested(email);
    return errorMessagesOf(error, data?.requestPasswordReset);
  };
  return (
    <main className="columns single">
      <div className="panel">
        <h1>Forgot your password?</h1>
        <p id={id}>Enter the confirmed address of your account. The server sends a link to it with which you choose a new password.</p>
        <Form
          label="Forgot your password?"
          act={act}
          button={(busy) => (
            <button className="primary" aria-disabled={busy}>
              Send the link
            </button>
          )}
        >
          <EmailField label="E-mail" required hint={id} />
        </Form>
        <Done>
          {requested && (
            <>
              If an account has confirmed <strong>{requested}</strong>, a link is on its way there. It is valid for 30 minutes.
            </>
          )}
        </Done>
        {requested && <OutboxHint />}
      </div>
    </main>
  );
}
