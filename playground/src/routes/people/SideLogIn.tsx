// The log-in of one of the two people, or the sign-up of a new account.
import { useId, useState } from 'react';
import { publicClient } from '../../api/client.ts';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { openSession } from '../../session/actions.ts';
import type { Session } from '../../session/store.ts';
import { useBusy } from '../../ui/useBusy.ts';
import { PeopleSignUpDocument } from './operations/SignUp.generated.ts';

interface Props {
  title: string;
  // Why the log-in is shown.
  notice: string;
  onSession: (session: Session) => string | void;
}

export function SideLogIn({ title, notice, onSession }: Props) {
  const id = useId();
  const [error, setError] = useState(notice);
  const [busy, run] = useBusy();
  const submit = async (form: HTMLFormElement, isNew: boolean) => {
    const fields = new FormData(form);
    const [login, password] = [String(fields.get('login') ?? ''), String(fields.get('password') ?? '')];
    const opened = await (isNew ? signUp(login, password) : openSession(login, password));
    setError((typeof opened === 'string' ? opened : onSession(opened)) ?? '');
  };
  return (
    <section className="side side-login" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <form
        aria-label={`Log in the ${title.toLowerCase()}`}
        onSubmit={(event) => {
          event.preventDefault();
          const { submitter } = event.nativeEvent as SubmitEvent;
          const form = event.currentTarget;
          void run(() => submit(form, submitter?.getAttribute('value') === 'signUp'));
        }}
      >
        <label>
          Login <input name="login" required spellCheck={false} autoCapitalize="none" autoComplete="off" />
        </label>
        <label>
          Password <input name="password" type="password" required autoComplete="off" />
        </label>
        <p className="error" role="alert">
          {error}
        </p>
        <div className="foot">
          <button value="logIn" className="primary" aria-disabled={busy}>
            Log in
          </button>
          <button value="signUp" aria-disabled={busy}>
            Sign up
          </button>
        </div>
      </form>
    </section>
  );
}

// The name of the new account is its login.
async function signUp(login: string, password: string): Promise<Session | string> {
  const { data, error } = await publicClient.mutation(PeopleSignUpDocument, { login, name: login, password }).toPromise();
  const begun = data?.signUp?.session;
  return begun ? { token: begun.token, expiresAt: begun.expiresAt, user: begun.user } : messageOf(errorMessagesOf(error, data?.signUp));
}
