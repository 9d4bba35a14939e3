// The ads of a campaign, and the form that adds one.
import { askingForm } from './asking-form.js';
import { facts, fromTemplate, named } from './element.js';
import { money } from './money.js';
import { ask, said } from './operations.js';
import { count, percent, pricingText, slotName } from './words.js';

// How many of one's latest statuses can be chosen from.
const STATUSES = 50;

export function adItem(ad) {
  const { element, part } = fromTemplate('ad');
  element.dataset.id = ad.id;
  part('slot').textContent = slotName(ad.slot);
  part('price').textContent = `${money(ad.bid)} for ${pricingText(ad.pricing)}`;
  part('message').textContent = ad.slot === 'IN_FEED' ? (ad.status?.message ?? 'Its status is gone.') : ad.snippet;
  part('target').textContent = ad.targetUrl ?? '';
  facts(part('facts'), [
    ['eCPM', ad.ecpm && money(ad.ecpm)],
    ['Impressions', count(ad.impressionCount)],
    ['Clicks', count(ad.clickCount)],
    ['CTR', ad.impressionCount > 0 ? percent(ad.ctr) : '–'],
  ]);
  return element;
}

// `send` is given the input without its campaign.
export function adForm(form, send, done) {
  const slot = form.elements.slot;
  const choose = () => {
    const isPromoted = slot.value === 'IN_FEED';
    show(form.querySelector('.shown-ad'), !isPromoted);
    show(form.querySelector('.promoted'), isPromoted);
  };
  form.addEventListener('change', choose);
  askingForm(form, (fields, idempotencyKey) => send({ ...Object.fromEntries(fields), bid: fields.get('bid').trim(), idempotencyKey }), done);
}

// What is not in sight is not sent, and holds nothing up.
function show(fieldset, isShown) {
  fieldset.hidden = fieldset.disabled = !isShown;
}

// The viewer's own statuses, asked for when one is to be promoted.
export class OwnStatuses {
  #form;
  #isRead = false;

  constructor(form) {
    this.#form = form;
    form.elements.slot.addEventListener('change', ({ target }) => target.value === 'IN_FEED' && void this.#read());
  }

  forget() {
    this.#isRead = false;
    this.#form.elements.statusId.replaceChildren();
    this.#form.dispatchEvent(new Event('change'));
  }

  async #read() {
    if (this.#isRead) return;
    const { payload, complaints } = await ask('OwnStatuses', { first: STATUSES });
    const statuses = payload?.profileTimeline.entries.edges.map(({ node }) => node.status) ?? [];
    this.#isRead = statuses.length > 0;
    this.#form.elements.statusId.replaceChildren(...statuses.map(option));
    const nothing = statuses.length === 0 ? 'You have posted nothing yet.' : '';
    this.#form.querySelector('.statuses-error').textContent = said(complaints) || nothing;
  }
}

function option({ id, message }) {
  const element = named('option', message);
  element.value = id;
  return element;
}
