// A password that can be shown while it is written.
import { useState } from 'react';
import { Field } from './Form.tsx';

interface Props {
  label: string;
  name: string;
  isNew?: boolean;
  hint?: string;
}

export function PasswordField({ label, name, isNew = false, hint }: Props) {
  const [isShown, setIsShown] = useState(false);
  return (
    <div className="password">
      <Field label={label} name={name} hint={hint}>
        {(attributes) => (
          <input
            type={isShown ? 'text' : 'password'}
            required
            spellCheck={false}
            autoCapitalize="none"
            autoComplete={isNew ? 'new-password' : 'current-password'}
            {...attributes}
          />
        )}
      </Field>
      <label className="show">
        <input type="checkbox" aria-label={`Show: ${label}`} checked={isShown} onChange={({ target }) => setIsShown(target.checked)} /> Show
      </label>
    </div>
  );
}

// The account of the form, for password managers. `hidden`, since the page shows it elsewhere.
export function HiddenLogin({ login }: { login: string }) {
  return <input name="username" autoComplete="username" value={login} readOnly hidden />;
}
