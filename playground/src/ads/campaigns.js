// The list of one's campaigns: each with its state and how much of its budget is spent.
import { fromTemplate } from './element.js';
import { linkTo } from './link.js';
import { money } from './money.js';
import { Pages } from './pages.js';
import { stateName } from './words.js';

export function campaignList(section) {
  return new Pages(section, { operation: 'Campaigns', item, nothing: 'You have none yet.' });
}

// The one that is open.
export function markCampaign(section, id) {
  for (const link of section.querySelectorAll('.list a')) {
    if (link.hash === linkTo(id ?? '')) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

function item(campaign) {
  const { element, part } = fromTemplate('campaign-row');
  element.querySelector('a').href = linkTo(campaign.id);
  part('name').textContent = campaign.name;
  part('state').textContent = campaign.isSuspended ? 'Suspended' : stateName(campaign);
  part('state').dataset.state = campaign.isSuspended ? 'SUSPENDED' : campaign.state;
  part('money').textContent = `${money(campaign.spent)} of ${money(campaign.budget)}`;
  element.querySelector('.spent').setAttribute('width', Math.min(100, (100 * campaign.spent) / campaign.budget));
  return element;
}
