// A relative time in the language of the browser, such as "3 minutes ago", with the full date as its title. It updates by itself.
import { useSyncExternalStore } from 'react';

const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY_S = 86_400;
const UNITS: [Intl.RelativeTimeFormatUnit, below: number, length: number][] = [
  ['second', 60, 1],
  ['minute', 3_600, 60],
  ['hour', DAY_S, 3_600],
  ['day', 7 * DAY_S, DAY_S],
];
const EVERY_MS = 20_000;

const listeners = new Set<() => void>();
let tick = 0;
setInterval(() => {
  tick++;
  for (const listener of listeners) listener();
}, EVERY_MS);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Time({ at }: { at: string }) {
  useSyncExternalStore(subscribe, () => tick);
  return (
    <time dateTime={at} title={DATE.format(new Date(at))}>
      {timeText(at)}
    </time>
  );
}

// Less than a minute is "now": the clocks of two machines may differ by seconds.
function timeText(at: string): string {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1_000);
  const fit = UNITS.find(([, below]) => seconds < below);
  if (!fit) return DATE.format(new Date(at));
  const [unit, , length] = fit;
  return unit === 'second' ? AGO.format(0, 'second') : AGO.format(-Math.floor(seconds / length), unit);
}
