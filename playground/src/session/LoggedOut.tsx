// The bar without a session: a log-in form, or a form for an existing token.
import { useState, type InputHTMLAttributes, type ReactNode } from 'react';
import { Link } from 'react-router';
import { useBusy } from '../ui/useBusy.ts';
import { onEscape } from '../ui/onEscape.ts';
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
  const submit = (fields: FormData) => void run(() => logIn(text(fields, 'login'), text(fields, 'password')));
  return (
    <SessionForm label="Log in" onSubmit={submit}>
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
          Use a token
        </button>
      </span>
    </SessionForm>
  );
}

function TokenForm({ onBack }: { onBack: () => void }) {
  const [busy, run] = useBusy();
  const onKeyDown = onEscape(onBack);
  return (
    <SessionForm label="Use a token" onSubmit={(fields) => void run(() => adoptToken(text(fields, 'token')))} onKeyDown={onKeyDown}>
      <Field label="Token" name="token" autoComplete="off" className="wide" autoFocus />
      <button aria-disabled={busy}>Use token</button>
      <button type="button" className="quiet" onClick={onBack}>
        Use a password
      </button>
    </SessionForm>
  );
}

interface FormProps {
  label: string;
  onSubmit: (fields: FormData) => void;
  onKeyDown?: React.KeyboardEventHandler;
  children: ReactNode;
}

function SessionForm({ label, onSubmit, onKeyDown, children }: FormProps) {
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form aria-label={label} onSubmit={submit} onKeyDown={onKeyDown}>
      {children}
    </form>
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
