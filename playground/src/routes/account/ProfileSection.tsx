// The profile, with who sees each field.
import { useId, useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { useMutation } from 'urql';
import type { DetailAudience, UpdateProfileInput } from '../../api/schema.generated.ts';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { PrivateSwitch } from '../../people/PrivateSwitch.tsx';
import { currentToken, renameUser } from '../../session/store.ts';
import { AreaField, ChoiceField, Form, TextField } from '../../ui/Form.tsx';
import type { AccountQuery } from './operations/Account.generated.ts';
import { UpdateProfileDocument } from './operations/UpdateProfile.generated.ts';
import { Foot, Section } from './Section.tsx';

type Account = NonNullable<AccountQuery['viewerAccount']>;

const AUDIENCES: Record<DetailAudience, string> = { NOBODY: 'Only you', FRIENDS: 'You and your friends', EVERYONE: 'Everyone' };

// `onSaved` reads the account again: the response of the mutation does not contain the audiences of its details.
export function ProfileSection({ account, onSaved }: { account: Account; onSaved: () => void }) {
  const { user } = account;
  const [, update] = useMutation(UpdateProfileDocument);
  const [isSaved, setIsSaved] = useState(false);
  const act = async (fields: FormData) => {
    setIsSaved(false);
    const { data, error } = await update({ input: inputOf(fields) });
    const changed = data?.updateProfile?.user;
    const token = currentToken();
    if (changed && token) renameUser(token, changed);
    if (changed) onSaved();
    setIsSaved(Boolean(changed));
    return errorMessagesOf(error, data?.updateProfile);
  };
  return (
    <Section title="Profile">
      <p>
        <Link to={`/profile/${user.login}`}>See your profile</Link>
      </p>
      <PrivateSwitch isPrivate={user.isPrivate} />
      <Form label="Profile" act={act} button={(busy) => <Foot label="Save profile" busy={busy} done={isSaved && 'Saved.'} />}>
        <Hinted hint="1 to 50 characters. Everyone sees it.">
          {(hint) => <TextField label="Name" name="name" required autoComplete="name" dir="auto" defaultValue={user.name} hint={hint} />}
        </Hinted>
        <Hinted hint="Up to 160 characters. Everyone sees it.">
          {(hint) => <AreaField label="Biography" name="bio" rows={3} dir="auto" defaultValue={user.bio} hint={hint} />}
        </Hinted>
        <Hinted hint="Up to 60 characters. Everyone sees it.">
          {(hint) => <TextField label="Location" name="location" dir="auto" defaultValue={user.location ?? ''} hint={hint} />}
        </Hinted>
        <Hinted hint="Up to 40 characters, in your own words. Everyone sees it.">
          {(hint) => <TextField label="Gender" name="gender" autoComplete="sex" dir="auto" defaultValue={user.gender ?? ''} hint={hint} />}
        </Hinted>
        <Hinted hint="Begins with https://. Everyone sees it.">
          {(hint) => <UrlField label="Website" name="websiteUrl" autoComplete="url" defaultValue={user.websiteUrl ?? ''} hint={hint} />}
        </Hinted>
        <Hinted hint="The URL of a picture. Everyone sees it.">
          {(hint) => <UrlField label="Avatar" name="avatarUrl" autoComplete="off" defaultValue={user.avatarUrl ?? ''} hint={hint} />}
        </Hinted>
        <Hinted hint="The URL of a wide picture. Everyone sees it.">
          {(hint) => <UrlField label="Banner" name="bannerUrl" autoComplete="off" defaultValue={user.bannerUrl ?? ''} hint={hint} />}
        </Hinted>
        <Hinted hint="Seen by those whom you choose below.">
          {(hint) => <TextField label="Date of birth" name="birthDate" type="date" autoComplete="bday" defaultValue={user.birthDate ?? ''} hint={hint} />}
        </Hinted>
        <div className="pair">
          <ChoiceField label="Who sees the date" name="showBirthDate" options={AUDIENCES} defaultValue={account.showBirthDate} />
          <ChoiceField label="Who sees your age" name="showAge" options={AUDIENCES} defaultValue={account.showAge} />
        </div>
      </Form>
    </Section>
  );
}

// An empty field clears its value.
function inputOf(fields: FormData): UpdateProfileInput {
  const text = (name: string) => String(fields.get(name) ?? '');
  const clearable = (name: string) => text(name).trim() || null;
  return {
    name: text('name'),
    bio: text('bio'),
    location: clearable('location'),
    gender: clearable('gender'),
    websiteUrl: clearable('websiteUrl'),
    avatarUrl: clearable('avatarUrl'),
    bannerUrl: clearable('bannerUrl'),
    birthDate: clearable('birthDate'),
    showBirthDate: text('showBirthDate') as DetailAudience,
    showAge: text('showAge') as DetailAudience,
  };
}

// The type is text: the server's rules for URLs are stricter than those of the browser.
function UrlField(props: { label: string; name: string; autoComplete: string; defaultValue: string; hint: string }) {
  return <TextField inputMode="url" spellCheck={false} autoCapitalize="none" placeholder="https://" {...props} />;
}

function Hinted({ hint, children }: { hint: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <>
      {children(id)}
      <p className="hint" id={id}>
        {hint}
      </p>
    </>
  );
}
