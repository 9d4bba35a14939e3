// The change of the password, which ends all other sessions.
import { useId, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { deviceToken, keepDeviceToken } from '../../session/device.ts';
import { Form } from '../../ui/Form.tsx';
import { HiddenLogin, PasswordField } from '../../ui/PasswordField.tsx';
import { ChangePasswordDocument } from './operations/ChangePassword.generated.ts';
import { Foot, NoPassword, Section } from './Section.tsx';

interface Props {
  login: string;
  hasPassword: boolean;
  hasEmail: boolean;
}

export function PasswordSection({ login, hasPassword, hasEmail }: Props) {
  const [, change] = useMutation(ChangePasswordDocument);
  const [done, setDone] = useState('');
  const hint = useId();
  const act = async (fields: FormData) => {
    setDone('');
    const text = (name: string) => String(fields.get(name) ?? '');
    const input = { currentPassword: text('currentPassword'), newPassword: text('newPassword'), deviceToken: deviceToken(login) };
    const { data, error } = await change({ input });
    const changed = data?.changePassword;
    if (changed?.deviceToken) keepDeviceToken(login, changed.deviceToken);
    if (changed?.endedSessionIds) setDone(`Your password is changed. ${endedText(changed.endedSessionIds.length)}`);
    return errorMessagesOf(error, changed);
  };
  return (
    <Section title="Password">
      {hasPassword ? (
        <Form
          label="Change password"
          act={act}
          onDone={(form) => form.reset()}
          button={(busy) => <Foot label="Change password" busy={busy} done={done} />}
        >
          <HiddenLogin login={login} />
          <PasswordField label="Current password" name="currentPassword" />
          <PasswordField label="New password" name="newPassword" isNew hint={hint} />
          <p className="hint" id={hint}>
            8 to 128 characters. All your other sessions end{hasEmail && ', and your address receives a notice'}.
          </p>
        </Form>
      ) : (
        <NoPassword />
      )}
    </Section>
  );
}

export function endedText(count: number): string {
  if (count === 0) return 'There was no other session.';
  return count === 1 ? '1 other session has ended.' : `${count} other sessions have ended.`;
}
