// The texts of states, reasons, slots, caps and times.
const NUMBER = new Intl.NumberFormat();
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', minimumFractionDigits: 2, maximumFractionDigits: 2 });
const UNITS: [unit: string, length: number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

interface Campaign {
  state: string;
  startsAt?: string | null;
  endsAt?: string | null;
  isSuspended?: boolean;
  ads?: { edges: readonly unknown[] };
}

const EXHAUSTED = 'The remaining budget does not pay for another impression. Some of it may be reserved for clicks.';
const STATES: Record<string, [name: string, text: (campaign: Campaign) => string]> = {
  SCHEDULED: ['Scheduled', ({ startsAt }) => `It starts ${date(startsAt ?? '')}.`],
  ACTIVE: ['Active', servedText],
  PAUSED: ['Paused', () => 'None of its ads is served until it is resumed.'],
  EXHAUSTED: ['Exhausted', () => EXHAUSTED],
  ENDED: ['Ended', ({ endsAt }) => (endsAt ? `It ended ${date(endsAt)}.` : 'The campaign has ended.')],
  STOPPED: ['Stopped', () => 'The campaign is permanently stopped.'],
};
const REASONS: Record<string, string> = {
  PAUSED: 'It is paused.',
  STOPPED: 'It was stopped.',
  NOT_STARTED: 'It has not started yet.',
  ENDED: 'It has ended.',
  BUDGET_SPENT: EXHAUSTED,
  DAILY_BUDGET_SPENT: 'Its daily budget is spent.',
  PACED: 'Pacing: the campaign has already spent its share of the daily budget up to this time.',
  CAPPED: 'The visitor has reached the frequency cap, or the request has no visitor id.',
  KEYWORDS: 'The page has none of the campaign’s keywords.',
  SLOT: 'It has no ad for this slot.',
  NO_ADS: 'It has no ads.',
  SUSPENDED: 'Its advertiser is suspended.',
};
const SLOTS: Record<string, string> = { BANNER: 'Banner', SKYSCRAPER: 'Skyscraper', SQUARE: 'Square', IN_FEED: 'In the feed' };
const PACINGS: Record<string, string> = { EVEN: 'evenly', ASAP: 'as fast as possible' };
const PRICINGS: Record<string, string> = { CPM: 'per thousand impressions', CPC: 'per click' };

// An unknown code of a newer server is shown as it is.
export const stateName = ({ state }: { state: string }) => STATES[state]?.[0] ?? state;
export const stateText = (campaign: Campaign) => STATES[campaign.state]?.[1](campaign) ?? '';
export const reasonText = (reason: string) => REASONS[reason] ?? `${reason}.`;
export const slotName = (slot: string) => SLOTS[slot] ?? slot;
export const pacingText = (pacing: string) => PACINGS[pacing] ?? pacing;
export const pricingText = (pricing: string) => PRICINGS[pricing] ?? pricing;
export const count = (number: number) => NUMBER.format(number);
export const percent = (ratio: number) => PERCENT.format(ratio);
export const date = (at: string) => DATE.format(new Date(at));

export function capText({ impressions, perSeconds }: { impressions: number; perSeconds: number }): string {
  return `${count(impressions)} per visitor in ${duration(perSeconds)}`;
}

// 5,400 seconds are "1 hour, 30 minutes".
export function duration(seconds: number): string {
  let left = seconds;
  const parts = UNITS.map(([unit, length]) => {
    const many = Math.floor(left / length);
    left -= many * length;
    return many > 0 && new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(many);
  });
  return parts.filter(Boolean).join(', ');
}

// The largest unit in which this number of seconds is an integer, for a form.
export function inUnits(seconds: number): { per: number; unit: number } {
  const [, length] = UNITS.find(([, length]) => seconds % length === 0) ?? ['second', 1];
  return { per: seconds / length, unit: length };
}

// The actions of a campaign in this state.
export function allowedActions({ state }: { state: string }) {
  const isOver = state === 'STOPPED' || state === 'ENDED';
  return { pause: !isOver && state !== 'PAUSED', resume: state === 'PAUSED', stop: state !== 'STOPPED' };
}

// Only a campaign with an ad, of an advertiser who is not suspended, can be served.
function servedText({ isSuspended, ads }: Campaign): string {
  if (isSuspended) return 'It would be served if your account were not suspended.';
  return ads && ads.edges.length > 0 ? 'Its ads are served on matching pages.' : 'It has no ads yet: create the first one below.';
}

// One per line, for a form.
export function rows(text: string): string[] {
  return text
    .split('\n')
    .map((row) => row.trim())
    .filter(Boolean);
}

// The host of a URL, or the text if it is no URL.
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
