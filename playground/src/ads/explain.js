// Whether a campaign would be chosen, and why not, in words.
import { askingForm } from './asking-form.js';
import { named } from './element.js';
import { money } from './money.js';
import { ask } from './operations.js';
import { count, reasonText, rows } from './words.js';

const GONE = [{ message: 'There is no such campaign, or it is not yours.', path: [] }];

// `campaign` answers the id of the one that is open.
export function explainForm(form, campaign) {
  const answer = form.querySelector('.answer');
  askingForm(form, async (fields) => {
    answer.replaceChildren();
    const keywords = rows(fields.get('keywords'));
    const visitorId = fields.get('visitorId').trim() || null;
    const asked = { campaignId: campaign(), slot: fields.get('slot'), keywords, visitorId };
    const { payload, complaints } = await ask('Explain', asked);
    if (asked.campaignId !== campaign()) return [];
    if (payload) answer.replaceChildren(...explained(payload));
    return payload || complaints.length > 0 ? complaints : GONE;
  });
}

export function explained({ eligible, reasons, rank, ecpm }) {
  const price = ecpm === null ? '' : ` Its eCPM is ${money(ecpm)}.`;
  if (eligible) return [named('p', `Yes: it fits.${placeText(rank)}${price}`, 'yes')];
  const list = document.createElement('ul');
  list.append(...reasons.map((reason) => named('li', reasonText(reason))));
  return [named('p', `No, it would not be chosen.${price}`, 'no'), list];
}

function placeText(rank) {
  if (rank === null) return '';
  return rank === 1 ? ' It comes first.' : ` It comes as number ${count(rank)} of those that fit.`;
}
