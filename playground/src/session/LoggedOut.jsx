// What the bar shows without a session: a form for logging in, or one for a token that one has already.
import { useState } from 'react';
import { adoptToken, logIn } from './actions.js';
import { notify } from './store.js';
import { useBusy } from './useBusy.js';

export function LoggedOut({ demo }) {
  // Null until one has chosen: only a choice may move the focus into the form that it brings.
  const [byToken, setByToken] = useState(null);
  const toggle = () => {
    notify(null);
    setByToken(!byToken);
  };
  if (byToken) return <TokenForm onBack={toggle} />;
  return <LogInForm demo={demo} chosen={byToken === false} onToken={toggle} />;
}

function LogInForm({ demo, chosen, onToken }) {
  const [busy, run] = useBusy();
  const submit = (fields) => run(() => logIn(fields.get('login'), fields.get('password')));
  return (
    <SessionForm label="Log in" onSubmit={submit}>
      <Field label="Login" name="login" autoComplete="username" autoFocus={chosen} />
      <Field label="Password" name="password" type="password" autoComplete="current-password" />
      <button aria-disabled={busy}>Log in</button>
      {demo && (
        <DemoButton login={demo.login} busy={busy} onClick={() => run(() => logIn(demo.login, demo.password))} />
      )}
      <button type="button" className="quiet" onClick={onToken}>
        Use a token
      </button>
    </SessionForm>
  );
}

function DemoButton({ login, busy, onClick }) {
  return (
    <button type="button" className="primary" aria-disabled={busy} onClick={onClick}>
      Log in as {login}
    </button>
  );
}

function TokenForm({ onBack }) {
  const [busy, run] = useBusy();
  return (
    <SessionForm label="Use a token" onSubmit={(fields) => run(() => adoptToken(fields.get('token')))}>
      <Field label="Token" name="token" autoComplete="off" className="wide" autoFocus />
      <button aria-disabled={busy}>Use token</button>
      <button type="button" className="quiet" onClick={onBack}>
        Use a password
      </button>
    </SessionForm>
  );
}

function SessionForm({ label, onSubmit, children }) {
  const submit = (event) => {
    event.preventDefault();
    onSubmit(new FormData(event.currentTarget));
  };
  return (
    <form aria-label={label} onSubmit={submit}>
      {children}
    </form>
  );
}

function Field({ label, ...input }) {
  return (
    <label>
      {label} <input required spellCheck="false" autoCapitalize="none" {...input} />
    </label>
  );
}
