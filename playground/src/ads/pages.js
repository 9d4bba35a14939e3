// A list that is read a page at a time: its "more" button, and what to say when it is empty or cannot be read.
import { whileBusy } from '../busy.js';
import { ask, said } from './operations.js';

const FIRST = 50;

export class Pages {
  #section;
  #operation;
  #item;
  #nothing;
  #more;
  #shown = 0;
  #after = null;
  // The reading that counts: of one that was begun before, nothing is wanted any more.
  #reading = 0;

  // `operation` answers a connection; `item` makes an element of a node. `nothing` is said of an empty list.
  constructor(section, { operation, item, nothing }) {
    this.#section = section;
    this.#operation = operation;
    this.#item = item;
    this.#nothing = nothing;
    this.#more = section.querySelector('.more');
    this.#more.addEventListener('click', () => void whileBusy(this.#more, () => this.#readOn()));
  }

  // Reads it anew, as much of it as was shown: at most 100 come at once.
  async read() {
    const reading = ++this.#reading;
    const page = await this.#page(Math.min(100, Math.max(FIRST, this.#shown)), null);
    if (reading === this.#reading && page) this.#show(page, true);
  }

  clear(text) {
    this.#reading++;
    this.#shown = 0;
    this.#say(text);
    this.#complain('');
    this.#more.hidden = true;
    this.#list().replaceChildren();
  }

  async #readOn() {
    const reading = this.#reading;
    const page = await this.#page(FIRST, this.#after);
    if (reading === this.#reading && page) this.#show(page, false);
  }

  async #page(first, after) {
    const reading = this.#reading;
    const { payload, complaints } = await ask(this.#operation, { first, after });
    if (reading === this.#reading) this.#complain(said(complaints));
    return payload;
  }

  #show({ edges, pageInfo }, isAll) {
    const items = edges.map(({ node }) => this.#item(node));
    if (isAll) this.#list().replaceChildren(...items);
    else this.#list().append(...items);
    this.#shown = this.#list().children.length;
    this.#after = pageInfo.endCursor;
    this.#more.hidden = !pageInfo.hasNextPage;
    this.#say(this.#shown === 0 ? this.#nothing : '');
  }

  #say(text) {
    this.#section.querySelector('.nothing').textContent = text;
  }

  #complain(text) {
    this.#section.querySelector(':scope > .error').textContent = text;
  }

  #list() {
    return this.#section.querySelector('.list');
  }
}
