// Makes the viewer's account private or public.
import { use, useId, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import { PersonSetPrivateDocument } from './operations/SetPrivate.generated.ts';
import { RelationChange } from './usePersonAction.ts';
import './people.css';

export function PrivateSwitch({ isPrivate }: { isPrivate: boolean }) {
  const [, setPrivate] = useMutation(PersonSetPrivateDocument);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const onChange = use(RelationChange);
  const hint = useId();
  const flip = async () => {
    const { data, error } = await setPrivate({ isPrivate: !isPrivate });
    const errors = errorMessagesOf(error, data?.updateProfile);
    setError(messageOf(errors));
    if (errors.length === 0) onChange();
  };
  return (
    <div className="private">
      <label>
        <input type="checkbox" role="switch" checked={isPrivate} aria-disabled={busy} aria-describedby={hint} onChange={() => void run(flip)} /> Private account
      </label>
      <p className="hint" id={hint}>
        {isPrivate ? 'Only followers and friends see your statuses. Others ask to follow you.' : 'Everyone sees your public statuses and can follow you.'}
      </p>
      <p className="error" role="alert">
        {error}
      </p>
    </div>
  );
}
