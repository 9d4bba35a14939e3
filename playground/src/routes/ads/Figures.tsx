// The figures of a campaign: totals, a plot for each daily figure, and a table of all.
import { Facts, type Fact } from './Facts.tsx';
import { money } from './money.ts';
import { Plot, type PlotProps } from './Plot.tsx';
import { ctrOf, wholeDay } from './scale.ts';
import type { CampaignWithReport } from './useCampaign.ts';
import { count, percent } from './labels.ts';

type Report = CampaignWithReport['report'];
type Day = Report['days'][number];

const DAYS = [7, 30, 90, 366];
const ctrText = (day: Day, none: string) => (day.impressions > 0 ? percent(ctrOf(day) ?? 0) : none);

// The plots, and the values and texts of their days. Spend is converted to a number for the height of its bar only.
const PLOTS: (Omit<PlotProps, 'dates' | 'values' | 'texts'> & { of: (day: Day) => number | null; text: (day: Day) => string })[] = [
  { title: 'Daily spend', kind: 'bars', of: ({ spend }) => Number(spend), text: ({ spend }) => money(spend) },
  { title: 'CTR: clicks per impression', kind: 'line', style: 'percent', of: ctrOf, text: (day) => ctrText(day, 'no impressions') },
  { title: 'Daily impressions', kind: 'bars', whole: true, of: ({ impressions }) => impressions, text: ({ impressions }) => count(impressions) },
  { title: 'Daily clicks', kind: 'bars', whole: true, of: ({ clicks }) => clicks, text: ({ clicks }) => count(clicks) },
];
const COLUMNS: [name: string, text: (day: Day) => string][] = [
  ['Day', ({ date }) => wholeDay(date)],
  ['Spend', ({ spend }) => money(spend)],
  ['Impressions', ({ impressions }) => count(impressions)],
  ['Clicks', ({ clicks }) => count(clicks)],
  ['Invalid clicks', ({ invalidClicks }) => count(invalidClicks)],
  ['CTR', (day) => ctrText(day, '–')],
  ['Reach', ({ reach }) => count(reach)],
];

interface Props {
  report: Report;
  days: number;
  onDays: (days: number) => void;
}

export function Figures({ report, days, onDays }: Props) {
  const dates = report.days.map(({ date }) => date);
  return (
    <section aria-labelledby="figures-title">
      <h3 id="figures-title">Figures</h3>
      <Facts className="totals" facts={totals(report)} />
      <div className="head">
        <h4>By day</h4>
        <label>
          <span className="visually-hidden">Days</span>
          <select autoComplete="off" value={days} onChange={({ target }) => onDays(Number(target.value))}>
            {DAYS.map((days) => (
              <option key={days} value={days}>
                {days} days
              </option>
            ))}
          </select>
        </label>
      </div>
      <div className="plots">
        {PLOTS.map(({ of, text, ...plot }) => (
          <Plot key={plot.title} {...plot} dates={dates} values={report.days.map(of)} texts={report.days.map(text)} />
        ))}
      </div>
      <p className="hint">The last day is drawn open: it is not over yet. Days are UTC.</p>
      <details>
        <summary>The same as a table</summary>
        <Table days={report.days} />
      </details>
    </section>
  );
}

function totals(report: Report): Fact[] {
  const { spend, impressions, clicks, invalidClicks, ctr, ecpm, reach } = report;
  return [
    ['Spend', money(spend)],
    ['Impressions', count(impressions)],
    ['Clicks', count(clicks)],
    ['Invalid clicks', count(invalidClicks)],
    ['CTR', impressions > 0 ? percent(ctr) : '–'],
    ['eCPM', impressions > 0 ? money(ecpm) : '–'],
    ['Reach', count(reach)],
  ];
}

// The latest day first.
function Table({ days }: { days: readonly Day[] }) {
  return (
    <div className="scrolled" role="region" aria-label="Figures by day" tabIndex={0}>
      <table>
        <caption className="visually-hidden">Figures by day, the latest first.</caption>
        <thead>
          <tr>
            {COLUMNS.map(([name]) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.date}>{COLUMNS.map(([name, text], at) => (at === 0 ? <th key={name} scope="row">{text(day)}</th> : <td key={name}>{text(day)}</td>))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
