// One comment as an element, with a place for the replies to it. Whatever comes from people is put in as text, never as HTML.
import { time } from './time.js';

const NUMBER = new Intl.NumberFormat();
// From these depths on nothing is indented any more, on a phone and elsewhere: see thread.css.
const [DEEP, DEEPER] = [5, 10];
const template = document.getElementById('comment');

export function commentElement({ id, depth, postedAt }) {
  const element = template.content.firstElementChild.cloneNode(true);
  element.dataset.id = id;
  element.classList.toggle('deep', depth >= DEEP);
  element.classList.toggle('deeper', depth >= DEEPER);
  element.querySelector('.when').append(time(postedAt));
  return element;
}

// Writes into it what is known of the comment now. `to` is the comment that it replies to.
export function write(element, comment, to) {
  const part = (name) => element.querySelector(`:scope > article .${name}`);
  const { author, isDeleted, viewerVote } = comment;
  element.classList.toggle('gone', isDeleted);
  part('name').textContent = author?.name ?? '';
  part('login').textContent = author ? `@${author.login}` : '';
  part('to').textContent = to?.author ? `to @${to.author.login}` : '';
  part('edited').hidden = !comment.editedAt;
  say(part('message'), isDeleted ? 'This comment was deleted.' : comment.message);
  say(part('score'), NUMBER.format(comment.score));
  part('up').setAttribute('aria-pressed', String(viewerVote === 'UP'));
  part('down').setAttribute('aria-pressed', String(viewerVote === 'DOWN'));
}

// What the viewer may do with it. `below`: the comments below it that are shown.
export function allow(element, { comment, viewer, isTheirStatus, below }) {
  const part = (name) => element.querySelector(`:scope > article .${name}`);
  const isOwn = Boolean(viewer) && comment.author?.id === viewer.id;
  const hasReplies = below.length > 0 || comment.descendantCount > 0;
  const isAllOwn = isOwn && below.every(({ isDeleted, author }) => isDeleted || author.id === viewer.id);
  for (const name of ['up', 'down']) part(name).disabled = !viewer;
  part('votes').hidden = comment.isDeleted;
  part('reply').hidden = !viewer || comment.isDeleted;
  part('edit').hidden = !isOwn;
  part('delete').hidden = !isOwn;
  part('prune').hidden = !(isTheirStatus ? !isOwn || hasReplies : isAllOwn && hasReplies);
  // While it asks, it says what it asks.
  if (document.activeElement !== part('prune')) part('prune').textContent = hasReplies ? 'Delete branch' : 'Delete';
  fold(element, comment, below);
}

// The button says how many comments it hides: those that have been read, or more that the server knows of.
function fold(element, comment, below) {
  const button = element.querySelector(':scope > article .fold');
  const isFolded = element.classList.contains('folded');
  const living = Math.max(below.filter(({ isDeleted }) => !isDeleted).length, comment.isCut ? comment.descendantCount : 0);
  button.hidden = below.length === 0;
  button.setAttribute('aria-expanded', String(!isFolded));
  say(button, isFolded ? `Unfold ${NUMBER.format(living)}` : 'Fold');
}

// Writing the same again would lose what somebody has selected in it.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
