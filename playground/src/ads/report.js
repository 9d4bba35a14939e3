// The figures of a campaign: its sums, a plot for each that changes from day to day, and all of them as a table.
import { facts, named } from './element.js';
import { money } from './money.js';
import { Plot } from './plot.js';
import { ctrOf, wholeDay } from './scale.js';
import { count, percent } from './words.js';

// Only where a plot puts its bars is money a number.
const PLOTS = [
  { title: 'Spend a day', kind: 'bars', of: ({ spend }) => Number(spend), said: ({ spend }) => money(spend) },
  { title: 'CTR: clicks of impressions', kind: 'line', style: 'percent', of: ctrOf, said: (day) => ctrText(day, 'no impressions') },
  { title: 'Impressions a day', kind: 'bars', whole: true, of: ({ impressions }) => impressions, said: ({ impressions }) => count(impressions) },
  { title: 'Clicks a day', kind: 'bars', whole: true, of: ({ clicks }) => clicks, said: ({ clicks }) => count(clicks) },
];
const COLUMNS = [
  ['Day', ({ date }) => wholeDay(date)],
  ['Spend', ({ spend }) => money(spend)],
  ['Impressions', ({ impressions }) => count(impressions)],
  ['Clicks', ({ clicks }) => count(clicks)],
  ['Not counted', ({ invalidClicks }) => count(invalidClicks)],
  ['CTR', (day) => ctrText(day, '–')],
  ['Visitors', ({ reach }) => count(reach)],
];

const ctrText = (day, none) => (day.impressions > 0 ? percent(ctrOf(day)) : none);

export class Report {
  #section;
  #plots = PLOTS.map(({ title }) => new Plot(title));

  constructor(section) {
    this.#section = section;
    section.querySelector('.plots').append(...this.#plots.map(({ element }) => element));
    const head = document.createElement('tr');
    head.append(...COLUMNS.map(([name]) => heading('col', name)));
    section.querySelector('thead').append(head);
  }

  show(report) {
    facts(this.#section.querySelector('.totals'), [
      ['Spend', money(report.spend)],
      ['Impressions', count(report.impressions)],
      ['Clicks', count(report.clicks)],
      ['Clicks not counted', count(report.invalidClicks)],
      ['CTR', report.impressions > 0 ? percent(report.ctr) : '–'],
      ['eCPM', report.impressions > 0 ? money(report.ecpm) : '–'],
      ['Visitors, about', count(report.reach)],
    ]);
    const dates = report.days.map(({ date }) => date);
    PLOTS.forEach(({ of, said, ...plot }, at) => this.#plots[at].show({ ...plot, dates, values: report.days.map(of), texts: report.days.map(said) }));
    this.#section.querySelector('tbody').replaceChildren(...report.days.toReversed().map(row));
  }
}

function row(day) {
  const element = document.createElement('tr');
  element.append(...COLUMNS.map(([, of], at) => (at === 0 ? heading('row', of(day)) : named('td', of(day)))));
  return element;
}

function heading(scope, text) {
  const cell = named('th', text);
  cell.scope = scope;
  return cell;
}
