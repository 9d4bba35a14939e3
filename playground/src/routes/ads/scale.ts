// Scales of the plots: where the axis ends, which values are marked on it, and which days are named. Nothing here draws.
const STEPS = [1, 2, 5, 10];
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const WHOLE_DAY = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

// Values to mark, from zero to the first that is not below the greatest, in steps of 1, 2 or 5 at some power of ten. `whole`: counts have no halves.
// An axis of zeros has two marks as well.
export function ticks(greatest: number, { most = 4, whole = false } = {}): number[] {
  if (greatest <= 0) return [0, 1];
  const step = stepFor(greatest, most, whole);
  const last = Math.ceil(greatest / step - 1e-9);
  // Multiplied rather than added up: sums of tenths drift.
  return Array.from({ length: last + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

function stepFor(greatest: number, most: number, whole: boolean): number {
  const rough = greatest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((it) => it * power >= rough * (1 - 1e-9)) ?? 10) * power;
  return whole ? Math.max(1, step) : step;
}

// As many decimals as tell the marks apart, the same for all of them.
export function tickTexts(values: readonly number[], options: Intl.NumberFormatOptions = {}): string[] {
  const step = (values[1] ?? 1) * (options.style === 'percent' ? 100 : 1);
  const digits = Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const wide: Intl.NumberFormatOptions = (values.at(-1) ?? 0) >= 10_000 ? { notation: 'compact', maximumFractionDigits: 1 } : fixed;
  const format = new Intl.NumberFormat(undefined, { ...options, ...wide });
  return values.map((value) => format.format(value));
}

// Which of so many days are named, counted back from the last one, so that no two names stand nearer than `room` of a plot `width` wide.
export function namedDays(days: number, width: number, room: number): number[] {
  const every = Math.max(1, Math.ceil((room * days) / width));
  return Array.from({ length: Math.ceil(days / every) }, (_, at) => days - 1 - at * every).reverse();
}

// Days are UTC, wherever the reader is.
export const dayText = (date: string) => DAY.format(new Date(`${date}T00:00:00Z`));
export const wholeDay = (date: string) => WHOLE_DAY.format(new Date(`${date}T00:00:00Z`));

interface Counts {
  impressions: number;
  clicks: number;
}

// Clicks per impression; null without impressions.
export const ctrOf = ({ impressions, clicks }: Counts) => (impressions > 0 ? clicks / impressions : null);
