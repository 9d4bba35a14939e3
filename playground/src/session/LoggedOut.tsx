// The bar without a session: a log-in form, or a form for an existing access token.
import { useState, type InputHTMLAttributes } from 'react';
import { Link } from 'react-router';
import { Form, TextField } from '../ui/Form.tsx';
import { onEscape } from '../ui/onEscape.ts';
import { useBusy } from '../ui/useBusy.ts';
import { adoptToken, logIn } from './actions.ts';
import type { DemoLogin } from './settings.ts';
import { notify } from './store.ts';

export function LoggedOut({ demo }: { demo: DemoLogin | null }) {
  // Null until the user chooses a form: only a choice moves the focus into it.
  const [byToken, setByToken] = useState<boolean | null>(null);
  const choose = (byToken: boolean) => {
    notify(null);
    setByToken(byToken);
  };
  if (byToken) return <TokenForm onBack={() => choose(false)} />;
  return <LogInForm demo={demo} chosen={byToken === false} onToken={() => choose(true)} />;
}

interface LogInProps {
  demo: DemoLogin | null;
  chosen: boolean;
  onToken: () => void;
}

function LogInForm({ demo, chosen, onToken }: LogInProps) {
  const [busy, run] = useBusy();
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void run(() => logIn(text(fields, 'login'), text(fields, 'password')));
  };
  return (
    <form aria-label="Log in" onSubmit={submit}>
      <Field label="Login" name="login" autoComplete="username" autoFocus={chosen} />
      <Field label="Password" name="password" type="password" autoComplete="current-password" />
      <button aria-disabled={busy}>Log in</button>
      {demo && (
        <button type="button" className="primary" aria-disabled={busy} onClick={() => void run(() => logIn(demo.login, demo.password))}>
          Log in as {demo.login}
        </button>
      )}
      <span className="links">
        <Link to="/sign-up">Sign up</Link>
        <Link to="/forgot-password">Forgot your password?</Link>
        <button type="button" className="quiet" onClick={onToken}>
          Use an access token
        </button>
      </span>
    </form>
  );
}

// The token of a session, or a JWT.
function TokenForm({ onBack }: { onBack: () => void }) {
  const act = async (fields: FormData) => {
    const message = await adoptToken(text(fields, 'token'));
    return message ? [{ message, path: ['token'] }] : [];
  };
  const buttons = (busy: boolean) => (
    <>
      <button aria-disabled={busy}>Use token</button>
      <button type="button" className="quiet" onClick={onBack}>
        Use a password
      </button>
    </>
  );
  return (
    <Form label="Use an access token" act={act} onKeyDown={onEscape(onBack)} button={buttons}>
      <TextField label="Access token" name="token" className="wide" placeholder="of a session, or a JWT" required autoFocus spellCheck={false} autoCapitalize="none" />
    </Form>
  );
}

function Field({ label, ...input }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label>
      {label} <input required spellCheck={false} autoCapitalize="none" {...input} />
    </label>
  );
}

const text = (fields: FormData, name: string) => String(fields.get(name) ?? '');
