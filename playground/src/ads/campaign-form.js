// The form of a campaign, to make one or to change one.
import { askingForm } from './asking-form.js';
import { fromTemplate } from './element.js';
import { ask } from './operations.js';
import { inUnits, rows } from './words.js';

// `onMade` is given the id of the new campaign.
export function newCampaign(onMade) {
  const form = campaignForm('Make the campaign');
  let made = null;
  const act = async (fields, idempotencyKey) => {
    const filled = Object.entries({ ...read(fields), keywords: rows(fields.get('keywords')) }).filter(([, value]) => value !== null);
    const { payload, complaints } = await ask('CreateCampaign', { input: { ...Object.fromEntries(filled), idempotencyKey } });
    made = payload?.campaign?.id;
    return complaints;
  };
  askingForm(form, act, () => {
    form.reset();
    onMade(made);
  });
  return form;
}

// Sends what was changed and nothing else: what the campaign has become meanwhile stays.
export function changeCampaign(campaign, onChanged) {
  const form = campaignForm('Save');
  write(form, campaign);
  const before = read(new FormData(form));
  const act = async (fields) => {
    const changed = Object.entries(read(fields)).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
    if (changed.length === 0) return [];
    const { complaints } = await ask('UpdateCampaign', { input: { campaignId: campaign.id, ...Object.fromEntries(changed) } });
    return complaints;
  };
  for (const part of form.querySelectorAll('.first-keywords')) part.remove();
  askingForm(form, act, onChanged);
  return form;
}

function campaignForm(name) {
  const { element, part } = fromTemplate('campaign-form');
  element.setAttribute('aria-label', name);
  part('primary').textContent = name;
  return element;
}

// What the input has of the same names. Money stays the text that somebody wrote.
function read(fields) {
  const text = (name) => fields.get(name).trim() || null;
  const impressions = text('impressions');
  return {
    name: fields.get('name'),
    budget: text('budget') ?? '',
    dailyBudget: text('dailyBudget'),
    startsAt: instant(text('startsAt')),
    endsAt: instant(text('endsAt')),
    frequencyCap: impressions && { impressions: Number(impressions), perSeconds: Number(fields.get('per')) * Number(fields.get('unit')) },
    pacing: fields.get('pacing'),
  };
}

function write(form, { name, budget, dailyBudget, startsAt, endsAt, frequencyCap, pacing }) {
  const cap = frequencyCap ? { impressions: frequencyCap.impressions, ...inUnits(frequencyCap.perSeconds) } : {};
  const texts = { name, budget, dailyBudget, startsAt: local(startsAt), endsAt: local(endsAt), pacing, ...cap };
  for (const [field, text] of Object.entries(texts)) form.elements[field].value = text ?? '';
}

// A field for dates knows the reader's own time, and no zone.
const instant = (text) => text && new Date(text).toISOString();

function local(at) {
  if (!at) return null;
  const date = new Date(at);
  return new Date(date - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
