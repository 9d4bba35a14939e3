// Deleting one's own statuses. The status goes when the stream says that it is gone.
import { send } from '../send.js';
import { twice } from '../twice.js';
import { request } from './operations.js';

export function deletesIn(list) {
  twice(list, '.delete', async (button) => {
    const variables = { statusId: button.closest('[data-id]').dataset.id };
    const { data, errors } = await send(request('DeleteStatus', variables));
    const [complaint] = errors ?? data.deleteStatus.userErrors;
    return complaint ? complaint.message : 'Deleted';
  });
}
