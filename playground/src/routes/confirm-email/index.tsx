// The page of the link that confirms a mail address. It sends the token once, with the session if there is one.
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { useClient } from 'urql';
import { isEnded, publicClient } from '../../api/client.ts';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { useLinkToken } from '../../session/useLinkToken.ts';
import { useViewer } from '../../session/useSession.ts';
import { useBusy } from '../../ui/useBusy.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { ConfirmEmailDocument } from './operations/ConfirmEmail.generated.ts';

export function Component() {
  useTitle('confirm e-mail');
  const { token, forget } = useLinkToken();
  return (
    <main className="columns single">
      <div className="panel">
        <h1>Confirm your e-mail address</h1>
        {token ? <Confirmation key={token} token={token} onUsed={forget} /> : <Invalid text="This page needs the whole link of the message." />}
      </div>
    </main>
  );
}

type Result = { kind: 'confirmed'; email: string | null } | { kind: 'invalid' | 'failed'; text: string };

function Confirmation({ token, onUsed }: { token: string; onUsed: () => void }) {
  const confirm = useConfirm(token);
  const [result, setResult] = useState<Result | null>(null);
  const [busy, run] = useBusy();
  const send = async () => {
    setResult(null);
    const result = await confirm();
    setResult(result);
    if (result.kind !== 'failed') onUsed();
  };
  // A token is valid once: it is sent once, also where an effect runs twice.
  const isSent = useRef(false);
  useEffect(() => {
    if (!isSent.current) void run(send);
    isSent.current = true;
  }, []);
  if (!result) return <p role="status">Confirming …</p>;
  if (result.kind === 'confirmed') return <Confirmed email={result.email} />;
  if (result.kind === 'invalid') return <Invalid text={result.text} />;
  return (
    <>
      <p className="error" role="alert">
        {result.text}
      </p>
      <button type="button" aria-disabled={busy} onClick={() => void run(send)}>
        Try again
      </button>
    </>
  );
}

function Confirmed({ email }: { email: string | null }) {
  const viewer = useViewer();
  return (
    <>
      <p className="done" role="status">
        {email ? <strong>{email}</strong> : 'Your address'} is confirmed. You can log in with it, and reset your password by it.
      </p>
      <p className="links">{viewer ? <Link to="/account">Your account</Link> : 'Log in above to continue.'}</p>
    </>
  );
}

function Invalid({ text }: { text: string }) {
  const viewer = useViewer();
  return (
    <>
      <p className="error" role="alert">
        {text}
      </p>
      <p>
        A link is valid once, for 24 hours, and until the next one is sent.{' '}
        {viewer ? (
          <>
            <Link to="/account">Your account</Link> shows your addresses, and sends another link.
          </>
        ) : (
          'Log in above to send another one from your account.'
        )}
      </p>
    </>
  );
}

// A session that has ended does not matter to the token.
function useConfirm(token: string): () => Promise<Result> {
  const client = useClient();
  return async () => {
    let { data, error } = await client.mutation(ConfirmEmailDocument, { token }).toPromise();
    if (error && isEnded(error)) ({ data, error } = await publicClient.mutation(ConfirmEmailDocument, { token }).toPromise());
    const [errors, payload] = [errorMessagesOf(error, data?.confirmEmail), data?.confirmEmail];
    if (!payload) return { kind: 'failed', text: messageOf(errors) };
    return errors.length > 0 ? { kind: 'invalid', text: messageOf(errors) } : { kind: 'confirmed', email: payload.account?.email ?? null };
  };
}
