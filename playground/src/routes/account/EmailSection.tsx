// The mail addresses: the confirmed one, and one that waits for its link.
import { useId, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import type { AccountEmailsFragment } from '../../session/fragments/AccountEmails.generated.ts';
import { OutboxHint } from '../../session/OutboxHint.tsx';
import { Done } from '../../ui/Done.tsx';
import { EmailField } from '../../ui/EmailField.tsx';
import { Form } from '../../ui/Form.tsx';
import { HiddenLogin, PasswordField } from '../../ui/PasswordField.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { ChangeEmailDocument } from './operations/ChangeEmail.generated.ts';
import { ResendConfirmationDocument } from './operations/ResendConfirmation.generated.ts';
import { Foot, NoPassword, Section } from './Section.tsx';

interface Props {
  account: AccountEmailsFragment & { hasPassword: boolean };
  login: string;
}

export function EmailSection({ account: { email, pendingEmail, hasPassword }, login }: Props) {
  // The result of the form, or of another control.
  const [requested, setRequested] = useState('');
  const [done, setDone] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  const change = useChangeEmail();
  const hint = useId();
  const request = async (fields: FormData) => {
    setRequested('');
    const wanted = String(fields.get('email') ?? '').trim();
    const { errors, account } = await change(wanted, String(fields.get('password') ?? ''));
    if (account) setRequested(account.pendingEmail ? `A link was sent to ${account.pendingEmail}. Open it within 24 hours.` : 'This is your address already.');
    return errors;
  };
  const onRemoved = () => {
    setRequested('');
    setDone('Your addresses were removed.');
    heading.current?.focus({ preventScroll: true });
  };
  return (
    <Section title="E-mail" heading={heading}>
      <Addresses email={email} pending={pendingEmail} onDone={setDone} />
      <Done>{done}</Done>
      {pendingEmail && <OutboxHint />}
      {hasPassword ? (
        <>
          <Form
            label="Change e-mail"
            act={request}
            onDone={(form) => form.reset()}
            button={(busy) => <Foot label="Send the link" busy={busy} done={requested} />}
          >
            <HiddenLogin login={login} />
            <EmailField label="New address" required hint={hint} />
            <p className="hint" id={hint}>
              Only you see it. Open the link in the message to confirm it{email ? '; until then your present address stays valid' : ''}.
            </p>
            <PasswordField label="Password" name="password" />
          </Form>
          {(email || pendingEmail) && <Removal login={login} onRemoved={onRemoved} />}
        </>
      ) : (
        <NoPassword />
      )}
    </Section>
  );
}

function Addresses({ email, pending, onDone }: { email: string | null; pending: string | null; onDone: (text: string) => void }) {
  if (!email && !pending) return <p>You have no address. Without one, a forgotten password cannot be reset.</p>;
  return (
    <ul className="addresses" aria-label="Addresses">
      {email && (
        <li>
          <strong>{email}</strong> <span className="mark">Confirmed</span>
          <p className="hint">You can log in with it, and it receives notices about changes of your account.</p>
        </li>
      )}
      {pending && (
        <li>
          <strong>{pending}</strong> <span className="mark">Not confirmed yet</span>
          <p className="hint">You cannot log in with it yet. It is dropped 24 hours after its link was sent.</p>
          <Resend onDone={onDone} />
        </li>
      )}
    </ul>
  );
}

function Resend({ onDone }: { onDone: (text: string) => void }) {
  const [, resend] = useMutation(ResendConfirmationDocument);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const send = async () => {
    onDone('');
    const { data, error } = await resend({});
    const result = data?.resendEmailConfirmation;
    setError(messageOf(errorMessagesOf(error, result)));
    if (result?.sentTo) onDone(`Another link was sent to ${result.sentTo}. The one before is no longer valid.`);
  };
  return (
    <>
      <button type="button" aria-disabled={busy} onClick={() => void run(send)}>
        Send the link again
      </button>
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}

function Removal({ login, onRemoved }: { login: string; onRemoved: () => void }) {
  const change = useChangeEmail();
  const remove = async (fields: FormData) => {
    const { errors, account } = await change(null, String(fields.get('password') ?? ''));
    if (account) onRemoved();
    return errors;
  };
  return (
    <details>
      <summary>Remove your address</summary>
      <Form
        label="Remove e-mail"
        act={remove}
        button={(busy) => (
          <div className="foot">
            <button aria-disabled={busy}>Remove</button>
          </div>
        )}
      >
        <p className="hint">Without an address, a forgotten password cannot be reset.</p>
        <HiddenLogin login={login} />
        <PasswordField label="Password" name="password" />
      </Form>
    </details>
  );
}

function useChangeEmail() {
  const [, change] = useMutation(ChangeEmailDocument);
  return async (email: string | null, password: string) => {
    const { data, error } = await change({ email, password });
    return { errors: errorMessagesOf(error, data?.changeEmail), account: data?.changeEmail?.account };
  };
}
