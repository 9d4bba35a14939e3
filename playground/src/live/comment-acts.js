// What one does with comments: votes, replies, edits, deletes, folds. One listener for the whole list, whatever comes into it. What the server
// has against it is said in the comment that it concerns.
import { inPlace } from './in-place.js';
import { request } from './operations.js';
import { send } from '../send.js';
import { twice } from '../twice.js';
import { WritingBox } from './writing-box.js';

export const MOST = 2_000;
const template = document.getElementById('writing');
let boxes = 0;

// `onAdded`: one's own comment is there. `onDeleted`: one is gone, and is to be looked at anew.
export function commentActs(list, tree, { onAdded, onDeleted }) {
  const acts = {
    fold: ({ id }) => inPlace(list, () => tree.fold(id)),
    up: (of) => vote(of, 'UP'),
    down: (of) => vote(of, 'DOWN'),
    reply: (of) => writing(of, 'Reply', (message, key) => addComment({ parentId: of.id }, message, key, onAdded)),
    edit: (of) => writing(of, 'Save', (message) => edit(of.id, message), tree.comment(of.id).message),
    cancel: close,
  };
  list.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-act]');
    if (button) acts[button.dataset.act](around(button));
  });
  list.addEventListener('keydown', ({ target, key }) => key === 'Escape' && target.matches('textarea') && close(around(target)));
  twice(list, '.delete, .prune', async (button) => {
    const { id, error } = around(button);
    error.textContent = await remove(id, button.matches('.prune'));
  });

  async function vote({ id, button, error }, wanted) {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    const vote = tree.comment(id).viewerVote === wanted ? 'NONE' : wanted;
    const { payload, said } = await change('VoteComment', { commentId: id, vote });
    button.removeAttribute('aria-disabled');
    error.textContent = said[0]?.message ?? '';
    if (payload?.comment) tree.refresh(payload.comment);
  }

  async function edit(commentId, message) {
    const { payload, said } = await change('EditComment', { commentId, message });
    if (payload?.comment) tree.refresh(payload.comment);
    return said;
  }

  // Answers what is wrong, or nothing.
  async function remove(commentId, withReplies) {
    const { said } = await change('DeleteComment', { commentId, withReplies });
    if (said.length === 0) onDeleted(commentId);
    return said[0]?.message ?? '';
  }
}

// Comments on the status, or replies: `under` names which.
export async function addComment(under, message, idempotencyKey, onAdded) {
  const { payload, said } = await change('AddComment', { ...under, message, idempotencyKey });
  if (payload?.comment) onAdded(payload.comment);
  return said;
}

// What is being written is nobody else's.
export function closeBoxes(list) {
  for (const form of list.querySelectorAll('.writing')) form.remove();
}

async function change(name, variables) {
  const { data, errors } = await send(request(name, variables));
  const payload = data && Object.values(data)[0];
  return { payload, said: errors ?? payload.userErrors };
}

// The comment that a button is in.
function around(button) {
  const article = button.closest('article');
  return { button, article, id: article.closest('.comment').dataset.id, error: article.querySelector(':scope > .error') };
}

// Opens a box in a comment, or goes to the one that is open. One at a time.
function writing(of, name, act, text = '') {
  const before = of.article.querySelector('.writing');
  if (before?.dataset.name === name) return before.elements.message.focus();
  before?.remove();
  const form = template.content.firstElementChild.cloneNode(true);
  form.dataset.name = name;
  form.setAttribute('aria-label', name);
  form.querySelector('.primary').textContent = name;
  describe(form);
  const box = new WritingBox(form, { most: MOST, act, onSent: () => close({ ...of, button: form }) });
  if (text) box.write(text);
  of.article.append(form);
  form.elements.message.focus();
}

function describe(form) {
  boxes++;
  const parts = ['.count', '.error'].map((name) => form.querySelector(name));
  for (const part of parts) part.id = `writing-${boxes}-${part.className}`;
  form.elements.message.setAttribute('aria-describedby', parts.map(({ id }) => id).join(' '));
}

// The keyboard goes on where it came from, unless it has gone elsewhere.
function close({ article }) {
  const form = article.querySelector('.writing');
  const isIn = form?.contains(document.activeElement);
  form?.remove();
  if (isIn) article.querySelector(form.dataset.name === 'Save' ? '.edit' : '.reply').focus({ preventScroll: true });
}
