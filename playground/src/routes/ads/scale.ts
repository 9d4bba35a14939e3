// Scales of the plots: the end of an axis, its ticks, and the days with a label.
const STEPS = [1, 2, 5, 10];
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const WHOLE_DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

// The ticks from zero to the first one that is not below the maximum, in steps of 1, 2 or 5 times a power of ten. `whole`: integers only, for counts.
// An axis for zeros has two ticks as well.
export function ticks(greatest: number, { most = 4, whole = false } = {}): number[] {
  if (greatest <= 0) return [0, 1];
  const step = stepFor(greatest, most, whole);
  const last = Math.ceil(greatest / step - 1e-9);
  // Multiplied, not summed: sums of tenths are inexact.
  return Array.from({ length: last + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

function stepFor(greatest: number, most: number, whole: boolean): number {
  const rough = greatest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((it) => it * power >= rough * (1 - 1e-9)) ?? 10) * power;
  return whole ? Math.max(1, step) : step;
}

// The texts of ticks, with as many decimals as they need to differ. From 10,000 on in compact notation.
export function tickTexts(values: readonly number[], options: Intl.NumberFormatOptions = {}): string[] {
  const step = (values[1] ?? 1) * (options.style === 'percent' ? 100 : 1);
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const wide: Intl.NumberFormatOptions = (values.at(-1) ?? 0) >= 10_000 ? { notation: 'compact', maximumFractionDigits: 1 } : fixed;
  const format = new Intl.NumberFormat(undefined, { ...options, ...wide });
  return values.map((value) => format.format(value));
}

// The days with a label, counted back from the last one, so that labels are at least `room` apart in a plot of this width.
export function namedDays(days: number, width: number, room: number): number[] {
  const every = Math.max(1, Math.ceil((room * days) / width));
  return Array.from({ length: Math.ceil(days / every) }, (_, at) => days - 1 - at * every).reverse();
}

// Days are in UTC, in every time zone.
export const dayText = (date: string) => DAY.format(new Date(`${date}T00:00:00Z`));
export const wholeDay = (date: string) => WHOLE_DAY.format(new Date(`${date}T00:00:00Z`));

interface Counts {
  impressions: number;
  clicks: number;
}

// Clicks per impression; null without impressions.
export const ctrOf = ({ impressions, clicks }: Counts) => (impressions > 0 ? clicks / impressions : null);
