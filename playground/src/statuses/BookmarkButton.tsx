// Bookmarks a status or removes the bookmark. Only the viewer sees it.
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import type { StatusChange } from './LikeButton.tsx';
import { StatusBookmarkDocument } from './operations/Bookmark.generated.ts';
import { StatusRemoveBookmarkDocument } from './operations/RemoveBookmark.generated.ts';
import { ToggleButton } from './ToggleButton.tsx';

interface Props {
  status: StatusCardFragment;
  onChange: (status: StatusChange) => void;
  onError: (message: string) => void;
}

export function BookmarkButton({ status: { id, viewerHasBookmarked }, onChange, onError }: Props) {
  const [, bookmark] = useMutation(StatusBookmarkDocument);
  const [, remove] = useMutation(StatusRemoveBookmarkDocument);
  const [busy, run] = useBusy();
  const press = async () => {
    const { data, error } = await (viewerHasBookmarked ? remove({ statusId: id }) : bookmark({ statusId: id }));
    const payload = data && ('bookmarkStatus' in data ? data.bookmarkStatus : data.removeBookmark);
    onError(messageOf(errorMessagesOf(error, payload)));
    if (payload?.status) onChange(payload.status);
  };
  return (
    <ToggleButton
      className="bookmark"
      label="Bookmark"
      icons={['☆', '★']}
      isOn={viewerHasBookmarked}
      title="Log in to bookmark it"
      busy={busy}
      onPress={() => void run(press)}
    />
  );
}
