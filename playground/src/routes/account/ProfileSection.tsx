// The profile, with who sees each field.
import { useId, useState } from 'react';
import { Link } from 'react-router';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { PrivateSwitch } from '../../people/PrivateSwitch.tsx';
import { currentToken, renameUser } from '../../session/store.ts';
import { AreaField, Form, TextField } from '../../ui/Form.tsx';
import type { OwnProfileFragment } from './operations/Account.generated.ts';
import { UpdateProfileDocument } from './operations/UpdateProfile.generated.ts';
import { Foot, Section } from './Section.tsx';

export function ProfileSection({ user }: { user: OwnProfileFragment }) {
  const id = useId();
  const [, update] = useMutation(UpdateProfileDocument);
  const [isSaved, setIsSaved] = useState(false);
  const act = async (fields: FormData) => {
    setIsSaved(false);
    const text = (name: string) => String(fields.get(name) ?? '');
    const { data, error } = await update({ input: { name: text('name'), bio: text('bio') } });
    const changed = data?.updateProfile?.user;
    const token = currentToken();
    if (changed && token) renameUser(token, changed);
    setIsSaved(Boolean(changed));
    return errorMessagesOf(error, data?.updateProfile);
  };
  return (
    <Section title="Profile">
      <p>
        <Link to={`/profile/${user.login}`}>See it as others do</Link>
      </p>
      <PrivateSwitch isPrivate={user.isPrivate} />
      <Form
        label="Profile"
        act={act}
        button={(busy) => <Foot label="Save profile" busy={busy} done={isSaved && 'Saved.'} />}
      >
        <TextField label="Name" name="name" required autoComplete="name" dir="auto" defaultValue={user.name} hint={`${id}name`} />
        <Hint id={`${id}name`}>1 to 50 characters. Everyone sees it.</Hint>
        <AreaField label="Biography" name="bio" rows={3} dir="auto" defaultValue={user.bio} hint={`${id}bio`} />
        <Hint id={`${id}bio`}>Up to 160 characters. Everyone sees it.</Hint>
      </Form>
    </Section>
  );
}

const Hint = ({ id, children }: { id: string; children: React.ReactNode }) => (
  <p className="hint" id={id}>
    {children}
  </p>
);
