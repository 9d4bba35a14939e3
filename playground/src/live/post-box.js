// The box for a post: how long it is so far, and what the server says to it. The post itself shows when the stream brings it.
import { send } from '../send.js';
import POST from './operations/PostStatus.graphql?raw';

const MOST = 500;
// Characters as a reader counts them, as the server does.
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const NUMBER = new Intl.NumberFormat();

export class PostBox {
  #form;
  #text;
  #count;
  #error;
  // The same for every try of one text: what was posted already, and only its answer lost, is not posted twice.
  #key = newKey();
  #busy = false;

  constructor(form) {
    this.#form = form;
    this.#text = form.elements.message;
    this.#count = form.querySelector('.count');
    this.#error = form.querySelector('.error');
    this.#text.addEventListener('input', () => this.#changed());
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#post();
    });
    this.#measure();
  }

  // Shown to those who are logged in. What is in it is nobody else's.
  show(isShown) {
    if (!isShown) this.#clear();
    this.#form.hidden = !isShown;
  }

  async #post() {
    if (this.#busy) return;
    this.#isBusy(true);
    const variables = { message: this.#text.value, idempotencyKey: this.#key };
    const { data, errors } = await send({ query: POST, operationName: 'LivePostStatus', variables });
    this.#isBusy(false);
    const complaint = (errors ?? data.postStatus.userErrors)[0];
    if (!complaint && this.#text.value === variables.message) return this.#clear();
    this.#error.textContent = complaint?.message ?? '';
  }

  // Marked rather than disabled: a disabled button would lose the keyboard's focus.
  #isBusy(busy) {
    this.#busy = busy;
    this.#form.querySelector('button').setAttribute('aria-disabled', String(busy));
  }

  #changed() {
    this.#key = newKey();
    this.#error.textContent = '';
    this.#measure();
  }

  #clear() {
    this.#text.value = '';
    this.#changed();
  }

  #measure() {
    const text = this.#text.value.trim().normalize('NFC');
    const length = [...CHARACTERS.segment(text)].length;
    this.#count.textContent = `${NUMBER.format(length)} / ${NUMBER.format(MOST)}`;
    this.#count.classList.toggle('over', length > MOST);
    this.#text.setAttribute('aria-invalid', String(length > MOST));
  }
}

// crypto.randomUUID is only there over HTTPS and on one's own machine.
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
