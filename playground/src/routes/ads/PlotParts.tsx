// The parts of a plot: axes, labels of days, and the tooltip of a day.
import { dayText, namedDays, wholeDay } from './scale.ts';

// The width of a day's label, without and with its margin.
const [NAME, ROOM] = [46, 64];
const MARGIN = 10;

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface AxesProps {
  box: Box;
  marks: readonly number[];
  names: readonly string[];
  y: (value: number) => number;
}

export function Axes({ box: { left, right }, marks, names, y }: AxesProps) {
  return (
    <g className="axis">
      {marks.map((mark, at) => (
        <g key={mark}>
          <line x1={left} x2={right} y1={y(mark)} y2={y(mark)} className={mark === 0 ? 'zero' : 'mark'} />
          <text x={left - 6} y={y(mark)} textAnchor="end" dominantBaseline="middle">
            {names[at]}
          </text>
        </g>
      ))}
    </g>
  );
}

interface DaysProps {
  box: Box;
  dates: readonly string[];
  x: (at: number) => number;
}

// The last label ends at the edge of the plot. At the other end the axis leaves enough space.
export function DayNames({ box: { left, right, bottom }, dates, x }: DaysProps) {
  return (
    <g className="axis">
      {namedDays(dates.length, right - left, ROOM).map((at) => (
        <text key={at} x={Math.min(x(at), right + MARGIN - NAME / 2)} y={bottom + 17} textAnchor="middle">
          {dayText(dates[at] ?? '1970-01-01')}
        </text>
      ))}
    </g>
  );
}

// Tooltips with the day and its value.
export function Hovers({ box, dates, texts, x, across }: DaysProps & { texts: readonly string[]; across: number }) {
  return (
    <g className="hovers">
      {dates.map((date, at) => (
        <rect key={date} x={x(at) - across / 2} width={across} y={box.top} height={box.bottom - box.top}>
          <title>{`${wholeDay(date)}: ${texts[at]}`}</title>
        </rect>
      ))}
    </g>
  );
}
