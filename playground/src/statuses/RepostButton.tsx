// Reposts a status or removes the repost. Only public statuses are reposted; a repost of one that was public before can be removed.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import type { StatusChange } from './LikeButton.tsx';
import { StatusRepostDocument } from './operations/Repost.generated.ts';
import { StatusUndoRepostDocument } from './operations/UndoRepost.generated.ts';
import { ToggleButton } from './ToggleButton.tsx';

const NUMBER = new Intl.NumberFormat();

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onError: (message: string) => void;
}

export function RepostButton({ status, onChange, onError }: Props) {
  const [, repost] = useMutation(StatusRepostDocument);
  const [, undo] = useMutation(StatusUndoRepostDocument);
  const [busy, run] = useBusy();
  const { id, audience, repostCount, viewerHasReposted } = status;
  if (audience !== 'PUBLIC' && !viewerHasReposted) return null;
  const press = async () => {
    const { data, error } = await (viewerHasReposted ? undo({ statusId: id }) : repost({ statusId: id }));
    const payload = data && ('repostStatus' in data ? data.repostStatus : data.undoRepost);
    onError(messageOf(errorMessagesOf(error, payload)));
    if (payload?.status) onChange(payload.status);
  };
  return (
    <ToggleButton
      className="repost"
      label="Repost"
      icons={['↻', '↻']}
      isOn={viewerHasReposted}
      count={`${NUMBER.format(repostCount)} ${repostCount === 1 ? 'repost' : 'reposts'}`}
      title="Log in to repost it"
      busy={busy}
      onPress={() => void run(press)}
    />
  );
}
