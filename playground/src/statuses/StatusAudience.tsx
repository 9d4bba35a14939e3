// Who can see a status: a mark if not everyone can, and for its author the menu that changes it.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import { audienceText, type Audience } from './audience.ts';
import { AudienceMenu } from './AudienceMenu.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import type { StatusChange } from './LikeButton.tsx';
import { StatusSetAudienceDocument } from './operations/SetStatusAudience.generated.ts';

export function AudienceMark({ status: { audience, audienceList } }: { status: StatusCardFragment }) {
  if (audience === 'PUBLIC') return null;
  return (
    <span className="mark audience">
      <span className="visually-hidden">Audience:</span> <span dir="auto">{audienceText(audience, audienceList?.name)}</span>
    </span>
  );
}

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onError: (message: string) => void;
}

export function StatusAudienceMenu({ status, onChange, onError }: Props) {
  const [, setAudience] = useMutation(StatusSetAudienceDocument);
  const [busy, run] = useBusy();
  const choose = async (audience: Audience) => {
    const { data, error } = await setAudience({ statusId: status.id, ...audience });
    onError(messageOf(errorMessagesOf(error, data?.setStatusAudience)));
    if (data?.setStatusAudience?.status) onChange(data.setStatusAudience.status);
  };
  const value = { audience: status.audience, audienceListId: status.audienceList?.id ?? null };
  return <AudienceMenu value={value} busy={busy} onChange={(audience) => void run(() => choose(audience))} />;
}
