// The login, and its change.
import { useId, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { renameDevice } from '../../session/device.ts';
import { currentToken, renameUser } from '../../session/store.ts';
import { Form, TextField } from '../../ui/Form.tsx';
import { HiddenLogin, PasswordField } from '../../ui/PasswordField.tsx';
import { ChangeLoginDocument } from './operations/ChangeLogin.generated.ts';
import { Foot, NoPassword, Section } from './Section.tsx';

export function LoginSection({ login, hasPassword }: { login: string; hasPassword: boolean }) {
  const [, change] = useMutation(ChangeLoginDocument);
  const [done, setDone] = useState('');
  const hint = useId();
  const act = async (fields: FormData) => {
    setDone('');
    const text = (name: string) => String(fields.get(name) ?? '');
    const { data, error } = await change({ login: text('login'), password: text('password') });
    const user = data?.changeLogin?.user;
    const token = currentToken();
    if (user && token) {
      renameDevice(login, user.login);
      renameUser(token, user);
      setDone(user.login === login ? 'This is your login already.' : `Your login is @${user.login} now. @${login} stays reserved for you for 30 days.`);
    }
    return errorMessagesOf(error, data?.changeLogin);
  };
  return (
    <Section title="Login">
      <p>
        <strong>@{login}</strong>
      </p>
      {hasPassword ? (
        <Form
          label="Change login"
          act={act}
          onDone={(form) => form.reset()}
          button={(busy) => <Foot label="Change login" busy={busy} done={done} />}
        >
          <HiddenLogin login={login} />
          <TextField label="New login" name="login" required spellCheck={false} autoCapitalize="none" autoComplete="off" hint={hint} />
          <p className="hint" id={hint}>
            Up to 30 letters A–Z, digits and underscores; everyone sees it. It can change twice in 30 days. Your previous login stays reserved for you for 30 days.
          </p>
          <PasswordField label="Password" name="password" />
        </Form>
      ) : (
        <NoPassword />
      )}
    </Section>
  );
}
