// Likes a status or removes the like. Graphcache updates the status in every query; `onChange` updates lists outside of the cache.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import { StatusLikeDocument } from './operations/LikeStatus.generated.ts';
import { StatusUnlikeDocument } from './operations/UnlikeStatus.generated.ts';
import { ToggleButton } from './ToggleButton.tsx';

const NUMBER = new Intl.NumberFormat();

export type StatusChange = { id: string } & Partial<StatusCardFragment>;

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onError: (message: string) => void;
}

export function LikeButton({ status, onChange, onError }: Props) {
  const [, like] = useMutation(StatusLikeDocument);
  const [, unlike] = useMutation(StatusUnlikeDocument);
  const [busy, run] = useBusy();
  const { id, likeCount, viewerHasLiked } = status;
  const press = async () => {
    const { data, error } = await (viewerHasLiked ? unlike({ statusId: id }) : like({ statusId: id }));
    const payload = data && ('likeStatus' in data ? data.likeStatus : data.unlikeStatus);
    onError(messageOf(errorMessagesOf(error, payload)));
    if (payload?.status) onChange(payload.status);
  };
  return (
    <ToggleButton
      className="like"
      label="Like"
      icons={['♡', '♥']}
      isOn={viewerHasLiked}
      count={`${NUMBER.format(likeCount)} ${likeCount === 1 ? 'like' : 'likes'}`}
      title="Log in to like it"
      busy={busy}
      onPress={() => void run(press)}
    />
  );
}
