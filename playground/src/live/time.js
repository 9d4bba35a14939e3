// Times as people say them, in the reader's language: "3 minutes ago", and the whole date on top of it. They grow older by themselves.
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY_S = 86_400;
const UNITS = [
  ['second', 60, 1],
  ['minute', 3_600, 60],
  ['hour', DAY_S, 3_600],
  ['day', 7 * DAY_S, DAY_S],
];
const EVERY_MS = 20_000;

export function time(at) {
  const element = document.createElement('time');
  element.dateTime = at;
  element.title = DATE.format(new Date(at));
  element.textContent = said(at);
  return element;
}

// Seconds are not counted out, and clocks of two machines differ by some: less than a minute is now.
function said(at) {
  const seconds = Math.max(0, (Date.now() - new Date(at)) / 1_000);
  const fit = UNITS.find(([, below]) => seconds < below);
  if (!fit) return DATE.format(new Date(at));
  const [unit, , length] = fit;
  return unit === 'second' ? AGO.format(0, 'second') : AGO.format(-Math.floor(seconds / length), unit);
}

setInterval(() => {
  for (const element of document.querySelectorAll('time')) element.textContent = said(element.dateTime);
}, EVERY_MS);
