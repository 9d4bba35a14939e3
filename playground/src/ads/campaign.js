// One campaign: how it stands, its figures, its keywords and ads, and what one can do about them. Whatever was done, it is read anew.
import { whileBusy } from '../busy.js';
import { twice } from '../twice.js';
import { adForm, adItem, OwnStatuses } from './ads-list.js';
import { askingForm } from './asking-form.js';
import { changeCampaign } from './campaign-form.js';
import { facts } from './element.js';
import { explainForm } from './explain.js';
import { keywordItem } from './keywords.js';
import { less, money } from './money.js';
import { ask, said } from './operations.js';
import { Report } from './report.js';
import { actsOf, capText, date, pacingText, rows, stateName, stateText } from './words.js';

const GONE = 'There is no such campaign, or it is not yours.';
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export class CampaignView {
  #section;
  #part;
  #onRead;
  #report;
  #statuses;
  #id = null;
  #campaign = null;
  // The reading that counts, as in pages.js.
  #reading = 0;

  // onRead: it was read anew, and may stand differently in the list.
  constructor(section, onRead) {
    this.#section = section;
    this.#part = (name) => section.querySelector(`.${name}`);
    this.#onRead = onRead;
    this.#report = new Report(this.#part('plots').closest('section'));
    this.#statuses = new OwnStatuses(this.#part('add-ad'));
    for (const name of ['pause', 'resume']) {
      this.#part(name).addEventListener('click', ({ target }) => void whileBusy(target, () => this.#act(target)));
    }
    twice(section, '.stop', (button) => this.#act(button), 'Stop it for good?');
    twice(section, '.remove', (button) => this.#removeAd(button), 'Remove it for good?');
    this.#part('change').addEventListener('click', () => this.#change());
    this.#part('again').addEventListener('click', () => void this.read());
    this.#part('days').addEventListener('change', () => void this.read());
    this.#part('keywords').addEventListener('click', ({ target }) => {
      if (target.matches('button')) void whileBusy(target, () => this.#removeKeyword(target.dataset.keyword));
    });
    askingForm(this.#part('add-keywords'), (fields) => this.#addKeywords(fields), () => this.#done('add-keywords'));
    adForm(this.#part('add-ad'), (input) => this.#ask('CreateAd', { campaignId: this.#id, ...input }), () => this.#done('add-ad'));
    explainForm(this.#part('why'), () => this.#id);
  }

  // Shows another one; null shows none.
  async open(id) {
    this.#section.hidden = true;
    this.#id = id;
    this.#campaign = null;
    this.#closeChange();
    for (const form of this.#section.querySelectorAll('form')) form.reset();
    for (const error of this.#section.querySelectorAll('.error, .answer')) error.replaceChildren();
    this.#statuses.forget();
    if (!id) return;
    this.#part('error').textContent = '';
    await this.read();
  }

  focus() {
    this.#section.querySelector('h2').focus();
  }

  // What cannot be read is told, and what was read before stays.
  async read() {
    const [reading, id] = [++this.#reading, this.#id];
    const { payload, complaints } = await ask('Campaign', { id, days: Number(this.#part('days').value) });
    if (reading !== this.#reading || id !== this.#id) return;
    this.#section.hidden = false;
    this.#section.classList.toggle('unread', !payload?.state && !this.#campaign);
    this.#part('error').textContent = said(complaints) || (payload?.state ? '' : GONE);
    if (payload?.state) this.#show(payload);
    this.#onRead();
  }

  #show(campaign) {
    this.#campaign = campaign;
    this.#part('name').textContent = campaign.name;
    this.#part('state').textContent = stateName(campaign);
    this.#part('state').dataset.state = campaign.state;
    say(this.#part('because'), stateText(campaign));
    this.#part('suspended').hidden = !campaign.isSuspended;
    this.#part('at').textContent = `Read at ${TIME.format()}.`;
    const acts = actsOf(campaign);
    for (const button of this.#section.querySelectorAll('[data-act]')) button.hidden = !acts[button.dataset.act];
    facts(this.#part('facts'), factsOf(campaign));
    this.#report.show(campaign.report);
    this.#part('keywords').replaceChildren(...campaign.keywords.map(keywordItem));
    this.#part('untargeted').hidden = campaign.keywords.length > 0;
    const ads = campaign.ads.edges.map(({ node }) => node);
    this.#part('ads-list').replaceChildren(...ads.map(adItem));
    this.#part('no-ads').hidden = ads.length > 0;
  }

  // A button whose act went well may be gone: the keyboard goes on at the heading.
  async #act(button) {
    const complaints = await this.#ask(button.dataset.act, { campaignId: this.#id });
    if (complaints.length === 0) await this.read();
    else this.#part('error').textContent = said(complaints);
    if (button.hidden && document.activeElement === document.body) this.focus();
  }

  async #ask(name, input) {
    return (await ask(name, { input })).complaints;
  }

  #addKeywords(fields) {
    return this.#ask('AddKeywords', { campaignId: this.#id, keywords: rows(fields.get('keywords')) });
  }

  async #removeKeyword(keyword) {
    const complaints = await this.#ask('RemoveKeywords', { campaignId: this.#id, keywords: [keyword] });
    if (complaints.length === 0) await this.#done('add-keywords');
    this.#part('keywords-error').textContent = said(complaints);
  }

  async #removeAd(button) {
    const item = button.closest('.ad');
    const complaints = await this.#ask('RemoveAd', { adId: item.dataset.id });
    item.querySelector('.error').textContent = said(complaints);
    if (complaints.length === 0) await this.#done('add-ad');
  }

  // What was written is sent, and its form is where the keyboard goes on.
  async #done(name) {
    const form = this.#part(name);
    form.reset();
    form.dispatchEvent(new Event('change'));
    await this.read();
    form.querySelector('textarea, select').focus();
  }

  #change() {
    const [button, place] = [this.#part('change'), this.#part('changing')];
    if (!place.hidden) return this.#closeChange();
    const form = changeCampaign(this.#campaign, () => {
      this.#closeChange();
      void this.read();
    });
    form.querySelector('.cancel').addEventListener('click', () => this.#closeChange());
    place.replaceChildren(form);
    place.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    form.querySelector('input').focus();
  }

  #closeChange() {
    const [button, place] = [this.#part('change'), this.#part('changing')];
    const isIn = place.contains(document.activeElement);
    place.replaceChildren();
    place.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    if (isIn) button.focus();
  }
}

function factsOf(campaign) {
  const { budget, spent, dailyBudget, spentToday, leftToday, reserved, startsAt, endsAt, createdAt, frequencyCap, pacing } = campaign;
  return [
    ['Budget', money(budget)],
    ['Spent', money(spent)],
    ['Left', money(less(less(budget, spent), reserved))],
    ['Budget a day', dailyBudget ? money(dailyBudget) : 'no limit'],
    ['Spent today', money(spentToday)],
    ['Waits for clicks', reserved === '0' ? null : money(reserved)],
    ['Left today', leftToday && money(leftToday)],
    ['Starts', startsAt ? date(startsAt) : 'at once'],
    ['Ends', endsAt ? date(endsAt) : 'with its budget'],
    ['Made', date(createdAt)],
    ['Cap', frequencyCap ? capText(frequencyCap) : 'none'],
    ['Through the day', pacingText(pacing)],
  ];
}

// Writing the same again would be read out again.
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
