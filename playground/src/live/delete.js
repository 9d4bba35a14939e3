// Deleting one's own statuses: asked once more, on the button itself. The status goes when the stream says that it is gone.
import { send } from '../send.js';
import DELETE from './operations/DeleteStatus.graphql?raw';

const ASKED = 'Delete for everybody?';

// One listener for the whole list, whatever comes into it.
export function deletesIn(list) {
  list.addEventListener('click', ({ target }) => target.matches('.delete') && void pressed(target));
  list.addEventListener('focusout', ({ target }) => target.matches('.delete') && say(target, 'Delete'));
}

async function pressed(button) {
  if (button.textContent !== ASKED) return say(button, ASKED);
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  const variables = { statusId: button.closest('[data-id]').dataset.id };
  const { data, errors } = await send({ query: DELETE, operationName: 'LiveDeleteStatus', variables });
  const [complaint] = errors ?? data.deleteStatus.userErrors;
  button.removeAttribute('aria-disabled');
  say(button, complaint ? complaint.message : 'Deleted');
}

function say(button, text) {
  button.textContent = text;
}
