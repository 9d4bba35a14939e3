// The line that says how things stand: live, coming back in so many seconds, or stopped and why; and below it what was missed.
const SAID = {
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'Reconnecting',
  login: 'Your session has ended. Log in again to go on.',
};
const TICK_MS = 250;
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export class StatusLine {
  #element;
  #text;
  #countdown;
  #now;
  #notice;
  #tick = null;

  // `onNow`: somebody does not want to wait.
  constructor(element, onNow) {
    this.#element = element;
    this.#text = element.querySelector('.text');
    this.#countdown = element.querySelector('.countdown');
    this.#now = element.querySelector('button');
    this.#notice = element.querySelector('.notice');
    this.#now.addEventListener('click', onNow);
  }

  show({ phase, seconds, message }) {
    this.#element.dataset.phase = phase;
    this.#say(this.#text, message ?? SAID[phase]);
    this.#now.hidden = phase !== 'waiting' && phase !== 'refused';
    this.#now.textContent = phase === 'refused' ? 'Try again' : 'Now';
    this.#countDown(phase === 'waiting' ? seconds : null);
  }

  gap(text) {
    this.#say(this.#notice, `${TIME.format()} ${text}`);
    this.#notice.hidden = false;
  }

  forgetGap() {
    this.#notice.hidden = true;
    this.#notice.textContent = '';
  }

  // The seconds stand outside of what is read out: once is enough.
  #countDown(seconds) {
    clearInterval(this.#tick);
    this.#countdown.textContent = '';
    if (seconds === null) return;
    const end = performance.now() + seconds * 1_000;
    const show = () => {
      this.#countdown.textContent = `in ${Math.max(0, Math.ceil((end - performance.now()) / 1_000))} s`;
    };
    show();
    this.#tick = setInterval(show, TICK_MS);
  }

  // Writing the same again would be read out again.
  #say(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
}
