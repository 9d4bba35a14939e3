// Pins a status of the viewer to the viewer's profile, or unpins it.
import { useMutation, useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { useBusy } from '../ui/useBusy.ts';
import { StatusOwnPinsDocument } from './operations/OwnPins.generated.ts';
import { StatusPinDocument } from './operations/Pin.generated.ts';
import { StatusUnpinDocument } from './operations/Unpin.generated.ts';

interface Props {
  id: string;
  onError: (message: string) => void;
}

export function PinButton({ id, onError }: Props) {
  const [{ data: own }, reload] = useQuery({ query: StatusOwnPinsDocument });
  const [, pin] = useMutation(StatusPinDocument);
  const [, unpin] = useMutation(StatusUnpinDocument);
  const [busy, run] = useBusy();
  const isPinned = own?.viewer?.pinnedStatuses.some((status) => status.id === id) ?? false;
  const press = async () => {
    const { data, error } = await (isPinned ? unpin({ statusId: id }) : pin({ statusId: id }));
    const errors = errorMessagesOf(error, data && ('pinStatus' in data ? data.pinStatus : data.unpinStatus));
    onError(messageOf(errors));
    // The page of two people has no cache that the mutation changes.
    if (errors.length === 0) reload({ requestPolicy: 'network-only' });
  };
  return (
    <button type="button" className="pin quiet" aria-disabled={busy} onClick={() => void run(press)}>
      {isPinned ? 'Unpin' : 'Pin'}
    </button>
  );
}
