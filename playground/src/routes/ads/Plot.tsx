// A plot over days: bars for counts and sums, a line for a ratio. It begins at zero and is drawn again when its width changes.
//
// For screen readers it is an image with a description. The figures are in the table below the plots.
import { useId } from 'react';
import { useWidth } from '../../ui/useWidth.ts';
import { Axes, DayNames, Hovers, type Box } from './PlotParts.tsx';
import { ticks, tickTexts, wholeDay } from './scale.ts';

const HEIGHT = 180;
const [TOP, RIGHT, BOTTOM, LEFT] = [10, 10, 24, 8];
// The approximate width of a digit, and the least width of a plot.
const [DIGIT, NARROWEST] = [7.5, 120];

export interface PlotProps {
  title: string;
  kind: 'bars' | 'line';
  style?: 'percent';
  // Whether the values are integers.
  whole?: boolean;
  dates: readonly string[];
  // The value of each day, null if there is none, and its text. The last day is today, which is incomplete.
  values: readonly (number | null)[];
  texts: readonly string[];
}

export function Plot(props: PlotProps) {
  const id = useId();
  const [figure, width] = useWidth();
  return (
    <figure ref={figure}>
      <figcaption id={id}>{props.title}</figcaption>
      <svg role="img" aria-labelledby={`${id} ${id}summary`} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
        <desc id={`${id}summary`}>{summary(props)}</desc>
        {width > NARROWEST && <Drawing {...props} width={width} />}
      </svg>
    </figure>
  );
}

function Drawing({ dates, values, texts, kind, style, whole, width }: PlotProps & { width: number }) {
  const marks = ticks(Math.max(0, ...values.map(Number)), { whole });
  const names = tickTexts(marks, { style });
  const left = LEFT + Math.max(...names.map(({ length }) => length)) * DIGIT;
  const box: Box = { left, right: width - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM };
  const across = (box.right - left) / dates.length;
  const x = (at: number) => left + (at + 0.5) * across;
  const y = (value: number) => box.bottom - (value / (marks.at(-1) ?? 1)) * (box.bottom - box.top);
  return (
    <>
      <Axes box={box} marks={marks} names={names} y={y} />
      <DayNames box={box} dates={dates} x={x} />
      {kind === 'bars' ? <Bars values={values} x={x} y={y} across={across} bottom={box.bottom} /> : <Line values={values} x={x} y={y} />}
      <Hovers box={box} dates={dates} texts={texts} x={x} across={across} />
    </>
  );
}

interface Scales {
  values: readonly (number | null)[];
  x: (at: number) => number;
  y: (value: number) => number;
}

function Bars({ values, x, y, across, bottom }: Scales & { across: number; bottom: number }) {
  const width = Math.max(1, Math.min(28, across * 0.72));
  const bar = (value: number, at: number) => (
    <rect key={at} x={x(at) - width / 2} width={width} y={y(value)} height={bottom - y(value)} className={open(at, values)} />
  );
  return <g className="bars">{values.map((value, at) => bar(value ?? 0, at))}</g>;
}

// The line is interrupted at days without a value. Each value has a dot, so that a value between two interruptions is visible.
function Line({ values, x, y }: Scales) {
  const parts: string[][] = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const point = `${x(at)},${y(value)}`;
    const isNext = at > 0 && values[at - 1] !== null;
    if (isNext) parts.at(-1)?.push(point);
    else parts.push([point]);
  });
  const radius = values.length > 60 ? 1.5 : 3;
  const dot = (value: number | null, at: number) => value !== null && <circle key={at} cx={x(at)} cy={y(value)} r={radius} className={open(at, values)} />;
  return (
    <g className="line">
      {parts.map((points) => (
        <polyline key={points[0]} points={points.join(' ')} />
      ))}
      {values.map(dot)}
    </g>
  );
}

// The class of the last day, which is incomplete; undefined for other days.
const open = (at: number, values: readonly unknown[]) => (at === values.length - 1 ? 'today' : undefined);

function summary({ dates, values, texts }: PlotProps): string {
  const most = Math.max(0, ...values.map(Number));
  const last = wholeDay(dates.at(-1) ?? '1970-01-01');
  const many = dates.length === 1 ? 'One day' : `${dates.length} days to ${last}`;
  if (most === 0) return `${many}: nothing.`;
  const at = values.indexOf(most);
  return `${many}: at most ${texts[at]}, on ${wholeDay(dates[at] ?? '1970-01-01')}.`;
}
