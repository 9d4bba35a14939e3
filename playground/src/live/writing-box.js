// A box to write in: how long the text is so far, and what the server says to it. Control and Enter send it.
import { newKey } from '../new-key.js';

const NUMBER = new Intl.NumberFormat();
// Characters as a reader counts them, as the server does.
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export class WritingBox {
  #form;
  #most;
  #act;
  #onSent;
  #text;
  #count;
  #error;
  // The same for every try of one text: what was sent already, and only its answer lost, is not there twice.
  #key = newKey();
  #busy = false;

  // `act` sends a message under a key and answers the errors that came of it. onSent: there were none, and the box is empty again.
  constructor(form, { most, act, onSent = () => {} }) {
    this.#form = form;
    this.#most = most;
    this.#act = act;
    this.#onSent = onSent;
    this.#text = form.elements.message;
    this.#count = form.querySelector('.count');
    this.#error = form.querySelector('.error');
    this.#text.addEventListener('input', () => this.#changed());
    this.#text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#send();
    });
    this.#measure();
  }

  // Shown to those who are logged in. What is in it is nobody else's.
  show(isShown) {
    if (!isShown) this.write('');
    this.#form.hidden = !isShown;
  }

  write(text) {
    this.#text.value = text;
    this.#changed();
  }

  async #send() {
    if (this.#busy) return;
    this.#isBusy(true);
    const sent = this.#text.value;
    const [complaint] = await this.#act(sent, this.#key);
    this.#isBusy(false);
    this.#error.textContent = complaint?.message ?? '';
    // Whoever has written on meanwhile keeps what they have written.
    if (complaint || this.#text.value !== sent) return;
    this.write('');
    this.#onSent();
  }

  // Marked rather than disabled: a disabled button would lose the keyboard's focus.
  #isBusy(busy) {
    this.#busy = busy;
    this.#form.querySelector('.primary').setAttribute('aria-disabled', String(busy));
  }

  #changed() {
    this.#key = newKey();
    this.#error.textContent = '';
    this.#measure();
  }

  #measure() {
    const text = this.#text.value.trim().normalize('NFC');
    const length = [...CHARACTERS.segment(text)].length;
    this.#count.textContent = `${NUMBER.format(length)} / ${NUMBER.format(this.#most)}`;
    this.#count.classList.toggle('over', length > this.#most);
    this.#text.setAttribute('aria-invalid', String(length > this.#most));
  }
}
