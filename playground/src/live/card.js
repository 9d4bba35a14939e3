// One status as an element. Whatever comes from people is put in as text, never as HTML.
import { openThread } from './thread-link.js';
import { time } from './time.js';

const NUMBER = new Intl.NumberFormat();
const DEGREES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const template = document.getElementById('card');

export function card(status, viewer, { isNew = false } = {}) {
  const element = template.content.firstElementChild.cloneNode(true);
  const part = (name) => element.querySelector(`.${name}`);
  element.dataset.id = status.id;
  element.dataset.author = status.author.id;
  element.classList.toggle('new', isNew);
  part('name').textContent = status.author.name;
  part('login').textContent = `@${status.author.login}`;
  part('when').append(time(status.postedAt));
  part('message').textContent = status.message;
  if (status.location) part('place').textContent = place(status.location);
  else part('place').remove();
  counted(element, status.commentCount);
  opened(element);
  deletedBy(element, viewer);
  return element;
}

// Only one's own statuses have the button.
export function deletedBy(element, viewer) {
  const button = element.querySelector('.delete');
  if (button) button.hidden = !viewer || element.dataset.author !== viewer.id;
}

// The button that opens its thread.
export function counted(element, count) {
  element.querySelector('.comments').textContent = `${NUMBER.format(count)} ${count === 1 ? 'comment' : 'comments'}`;
}

export function opened(element) {
  element.querySelector('.comments')?.setAttribute('aria-expanded', String(openThread() === element.dataset.id));
}

function place({ latitude, longitude }) {
  const north = latitude < 0 ? 'S' : 'N';
  const east = longitude < 0 ? 'W' : 'E';
  return `${DEGREES.format(Math.abs(latitude))}° ${north}, ${DEGREES.format(Math.abs(longitude))}° ${east}`;
}
