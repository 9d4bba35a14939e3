// The list of statuses: the newest on top, so many at most, without moving what is being read.
import { card, counted, deletedBy, opened } from './card.js';
import { gapText } from './words.js';

const MOST = 200;
// What comes in quick succession is put in at once: the page is laid out once for all of it.
const TOGETHER_MS = 50;
// Those who listen are told at most this often.
const ANNOUNCE_MS = 5_000;
// Browsers that keep what is read in its place themselves.
const ANCHORS = CSS.supports('overflow-anchor', 'auto');

export class Timeline {
  #list;
  #empty;
  #newer;
  #announcer;
  #viewer = null;
  #told = [];
  #flush = null;
  #unseen = 0;
  #unheard = 0;
  #announce = null;

  constructor({ list, empty, newer, announcer }) {
    this.#list = list;
    this.#empty = empty;
    this.#newer = newer;
    this.#announcer = announcer;
    newer.addEventListener('click', () => this.#toTop());
    addEventListener('scroll', () => this.#seen(), { passive: true });
  }

  // Shows these and nothing else, the newest first.
  show(statuses) {
    this.clear();
    this.#list.append(...statuses.map((status) => card(status, this.#viewer)));
    this.#settle();
  }

  clear() {
    clearTimeout(this.#flush);
    this.#flush = null;
    this.#told = [];
    this.#list.replaceChildren();
    this.#unseen = 0;
    this.#settle();
  }

  // Something happened: it shows within a moment, in the order in which it was told.
  tell(event) {
    this.#told.push(event);
    this.#flush ??= setTimeout(() => this.#apply(), TOGETHER_MS);
  }

  // Marks the place where statuses may be missing.
  mark(reason) {
    this.tell({ __typename: 'StreamGap', reason });
  }

  // Whose statuses may be deleted here; null for nobody.
  belongsTo(viewer) {
    this.#viewer = viewer;
    for (const element of this.#list.children) deletedBy(element, viewer);
  }

  // A status has so many comments now.
  count(id, count) {
    for (const element of this.#list.children) if (element.dataset.id === id) counted(element, count);
  }

  // Another thread is open, or none.
  threadChanged() {
    for (const element of this.#list.children) opened(element);
  }

  // What is shown, and what is about to be.
  ids() {
    const shown = [...this.#list.children].map((element) => element.dataset.id);
    const told = this.#told.map((event) => event.status?.id);
    return [...shown, ...told].filter(Boolean);
  }

  #apply() {
    this.#flush = null;
    const { scrollY } = window;
    const height = this.#list.offsetHeight;
    const isAway = this.#isAway();
    let posted = 0;
    for (const event of this.#told.splice(0)) posted += this.#take(event);
    while (this.#list.children.length > MOST) this.#list.lastElementChild.remove();
    if (isAway && !ANCHORS) scrollTo(0, scrollY + this.#list.offsetHeight - height);
    if (isAway) this.#unseen += posted;
    this.#heard(posted);
    this.#settle();
  }

  // Gives how many statuses were put in.
  #take(event) {
    if (event.__typename === 'StatusPosted') this.#list.prepend(card(event.status, this.#viewer, { isNew: true }));
    if (event.__typename === 'StreamGap') this.#list.prepend(gap(event.reason));
    if (event.__typename === 'StatusDeleted') this.#remove(event.statusId);
    return event.__typename === 'StatusPosted' ? 1 : 0;
  }

  #remove(id) {
    for (const element of [...this.#list.children].filter((it) => it.dataset.id === id)) {
      // Whoever had the keyboard's focus in it goes on at the next one.
      const next = element.contains(document.activeElement) && (element.nextElementSibling ?? this.#list);
      element.remove();
      if (next) next.focus();
    }
  }

  #settle() {
    this.#empty.hidden = this.#list.children.length > 0;
    this.#newer.hidden = this.#unseen === 0;
    this.#newer.textContent = `↑ ${this.#unseen} new`;
  }

  #heard(posted) {
    this.#unheard += posted;
    if (this.#unheard) this.#announce ??= setTimeout(() => this.#say(), ANNOUNCE_MS);
  }

  #say() {
    this.#announcer.textContent = this.#unheard === 1 ? 'One new post' : `${this.#unheard} new posts`;
    this.#unheard = 0;
    this.#announce = null;
  }

  #isAway() {
    return this.#list.getBoundingClientRect().top < 0;
  }

  #seen() {
    if (!this.#unseen || this.#isAway()) return;
    this.#unseen = 0;
    this.#settle();
  }

  #toTop() {
    this.#list.scrollIntoView({ block: 'start' });
    this.#list.focus({ preventScroll: true });
    this.#unseen = 0;
    this.#settle();
  }
}

function gap(reason) {
  const element = document.createElement('li');
  element.className = 'gap';
  element.textContent = gapText(reason);
  return element;
}
