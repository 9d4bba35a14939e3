// Who may reply to a status: a mark if not everyone may, a menu for a new status, and for its author the menu that changes it.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import type { ReplyPolicy } from '../api/schema.generated.ts';
import { useBusy } from '../ui/useBusy.ts';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import type { StatusChange } from './LikeButton.tsx';
import { StatusSetReplyPolicyDocument } from './operations/SetReplyPolicy.generated.ts';
import { REPLY_POLICIES } from './replyPolicy.ts';

export function ReplyPolicyMark({ policy }: { policy: ReplyPolicy }) {
  return policy !== 'EVERYONE' && <span className="mark policy">{REPLY_POLICIES[policy]}</span>;
}

interface MenuProps {
  value: ReplyPolicy;
  busy?: boolean;
  onChange: (policy: ReplyPolicy) => void;
}

export function ReplyPolicyMenu({ value, busy, onChange }: MenuProps) {
  return (
    <label className="audience-menu policy-menu">
      <span className="visually-hidden">Who may reply</span>
      <select autoComplete="off" value={value} aria-disabled={busy} onChange={({ target }) => busy || onChange(target.value as ReplyPolicy)}>
        {Object.entries(REPLY_POLICIES).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onError: (message: string) => void;
}

export function StatusReplyPolicyMenu({ status: { id, replyPolicy }, onChange, onError }: Props) {
  const [, setPolicy] = useMutation(StatusSetReplyPolicyDocument);
  const [busy, run] = useBusy();
  const choose = async (replyPolicy: ReplyPolicy) => {
    const { data, error } = await setPolicy({ statusId: id, replyPolicy });
    onError(messageOf(errorMessagesOf(error, data?.setReplyPolicy)));
    if (data?.setReplyPolicy?.status) onChange(data.setReplyPolicy.status);
  };
  return <ReplyPolicyMenu value={replyPolicy} busy={busy} onChange={(policy) => void run(() => choose(policy))} />;
}
