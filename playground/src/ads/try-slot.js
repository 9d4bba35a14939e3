// A publisher tries a slot: asks for ads as a page would, and clicks them. Each time is noted, so that a cap is seen at work.
import { whileBusy } from '../busy.js';
import { newKey } from '../new-key.js';
import { askingForm } from './asking-form.js';
import { fromTemplate, named } from './element.js';
import { ask, said } from './operations.js';
import { count, hostOf, rows, slotName } from './words.js';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
// So many times are kept in sight.
const KEPT = 20;
const NOT_COUNTED = 'Not counted: it was counted before, came too late, or its visitor clicks more than a person does.';

export class TrySlot {
  #section;
  #form;
  #part;

  constructor(section) {
    this.#section = section;
    this.#form = section.querySelector('form');
    this.#part = (name) => section.querySelector(`.${name}`);
    this.#form.elements.visitorId.value = someVisitor();
    this.#part('another').addEventListener('click', () => (this.#form.elements.visitorId.value = someVisitor()));
    askingForm(this.#form, (fields) => this.#ask(fields));
  }

  // The key of a website that is to be tried.
  use(key) {
    this.#form.elements.websiteKey.value = key;
    this.#section.querySelector('h2').focus();
  }

  async #ask(fields) {
    const visitorId = fields.get('visitorId').trim() || null;
    const [slot, keywords] = [fields.get('slot'), rows(fields.get('keywords'))];
    const input = { websiteKey: fields.get('websiteKey').trim(), slot, keywords, visitorId, count: Number(fields.get('count')) };
    const { payload, complaints } = await ask('ServeAds', { input });
    if (complaints.length > 0) return complaints;
    const { impressions } = payload;
    const outcome = outcomeText(impressions.length);
    this.#part('outcome').textContent = outcome;
    this.#part('served').replaceChildren(...impressions.map(item));
    this.#note([slotName(slot), visitorId ? `visitor ${visitorId}` : 'a visitor whom nobody knows', ...keywords].join(', '), outcome);
    return [];
  }

  #note(asked, outcome) {
    this.#part('asked-title').hidden = false;
    this.#part('asked').prepend(named('li', `${TIME.format()} ${asked}: ${outcome}`));
    this.#part('asked').children[KEPT]?.remove();
  }
}

function outcomeText(many) {
  if (many === 0) return 'No ad fits.';
  return many === 1 ? 'One ad came.' : `${count(many)} ads came.`;
}

function item({ token, clickUrl, ad }) {
  const { element, part } = fromTemplate('impression');
  element.dataset.slot = ad.slot;
  part('message').textContent = ad.snippet;
  part('target').textContent = hostOf(ad.targetUrl);
  part('link').href = clickUrl;
  part('click').addEventListener('click', ({ target }) => void whileBusy(target, () => click(token, part)));
  return element;
}

async function click(token, part) {
  const { payload, complaints } = await ask('ClickAd', { input: { token } });
  part('error').textContent = said(complaints);
  part('said').textContent = complaints.length > 0 ? '' : payload.counted ? `Counted. It leads to ${payload.targetUrl}` : NOT_COUNTED;
}

const someVisitor = () => `visitor-${newKey().slice(0, 8)}`;
