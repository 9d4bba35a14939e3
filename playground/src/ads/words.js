// What the page says of states, reasons, slots, caps and times.
const NUMBER = new Intl.NumberFormat();
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const STATES = {
  SCHEDULED: ['Scheduled', ({ startsAt }) => `It starts ${date(startsAt)}.`],
  ACTIVE: ['Active', servedText],
  PAUSED: ['Paused', () => 'Nothing of it is served until it is resumed.'],
  EXHAUSTED: ['Exhausted', () => 'Its budget is spent, or what is left is kept for clicks that may still come.'],
  ENDED: ['Ended', ({ endsAt }) => (endsAt ? `It ended ${date(endsAt)}.` : 'Its time is over.')],
  STOPPED: ['Stopped', () => 'It is over for good.'],
};
const REASONS = {
  PAUSED: 'It is paused.',
  STOPPED: 'It was stopped.',
  NOT_STARTED: 'It has not started yet.',
  ENDED: 'It has ended.',
  BUDGET_SPENT: 'Its budget is spent, or what is left is kept for clicks that may still come.',
  DAILY_BUDGET_SPENT: 'What it may spend in a day is spent.',
  PACED: 'It has spent what it may by this time of the day.',
  CAPPED: 'The visitor has seen it as often as its cap allows. Of a visitor whom nobody knows, that cannot be told.',
  KEYWORDS: 'None of its keywords is among the page’s.',
  SLOT: 'It has no ad for this slot.',
  NO_ADS: 'It has no ads.',
  SUSPENDED: 'Its advertiser is suspended.',
};
const SLOTS = { BANNER: 'Banner', SKYSCRAPER: 'Skyscraper', SQUARE: 'Square', IN_FEED: 'In the feed' };
const PACINGS = { EVEN: 'evenly', ASAP: 'as fast as possible' };
const PRICINGS = { CPM: 'a thousand impressions', CPC: 'a click' };

// The server may know more than this page: what is new is shown as it is called.
export const stateName = ({ state }) => STATES[state]?.[0] ?? state;
export const stateText = (campaign) => STATES[campaign.state]?.[1](campaign) ?? '';
export const reasonText = (reason) => REASONS[reason] ?? `${reason}.`;
export const slotName = (slot) => SLOTS[slot] ?? slot;
export const pacingText = (pacing) => PACINGS[pacing] ?? pacing;
export const pricingText = (pricing) => PRICINGS[pricing] ?? pricing;
export const count = (number) => NUMBER.format(number);
export const percent = (ratio) => PERCENT.format(ratio);
export const date = (at) => DATE.format(new Date(at));

export function capText({ impressions, perSeconds }) {
  return `${count(impressions)} a visitor in ${duration(perSeconds)}`;
}

// 5,400 seconds are "1 hour, 30 minutes".
export function duration(seconds) {
  let left = seconds;
  const parts = UNITS.map(([unit, length]) => {
    const many = Math.floor(left / length);
    left -= many * length;
    return many > 0 && new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(many);
  });
  return parts.filter(Boolean).join(', ');
}

// The largest unit in which so many seconds are a whole number: what a form shows them in.
export function inUnits(seconds) {
  const [, length] = UNITS.find(([, length]) => seconds % length === 0);
  return { per: seconds / length, unit: length };
}

// What may be done with a campaign. What is over is over.
export function actsOf({ state }) {
  const isOver = state === 'STOPPED' || state === 'ENDED';
  return {
    PauseCampaign: !isOver && state !== 'PAUSED',
    ResumeCampaign: state === 'PAUSED',
    StopCampaign: state !== 'STOPPED',
  };
}

// Only what has an ad, of an advertiser who is not held back, can be served.
function servedText({ isSuspended, ads }) {
  if (isSuspended) return 'It would be served if your account were not suspended.';
  return ads.edges.length > 0 ? 'It is served where it fits.' : 'It has no ads yet: nothing of it is served.';
}

// One a line, as a form has them.
export function rows(text) {
  return text
    .split('\n')
    .map((row) => row.trim())
    .filter(Boolean);
}

// A host is what a reader knows a page by; what is no address stands as it is.
export function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : url;
}
