// One plot over the days: bars for what adds up, a line for what is a ratio. Zero-based, in the pixels that it has, drawn anew when these change.
//
// It is a picture to screen readers, with a sentence for what it shows; the figures themselves stand in the table below the plots.
import { dayText, namedDays, ticks, tickTexts, wholeDay } from './scale.js';

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 180;
const [TOP, RIGHT, BOTTOM, LEFT] = [10, 10, 24, 8];
// About as wide as a digit is, the name of a day, and such a name with air around it.
const [DIGIT, NAME, ROOM] = [7.5, 46, 64];
let plots = 0;

// `values`: one for each day, null where there is none, and `texts`: the same in full. The last day is today, which is not over.
export class Plot {
  #figure;
  #svg;
  #caption;
  #shown = null;

  constructor(title) {
    const id = `plot-${++plots}`;
    this.#figure = document.createElement('figure');
    this.#caption = document.createElement('figcaption');
    this.#caption.id = id;
    this.#caption.textContent = title;
    this.#svg = make('svg', { role: 'img', 'aria-labelledby': `${id} ${id}-said`, height: HEIGHT });
    this.#figure.append(this.#caption, this.#svg);
    new ResizeObserver(() => this.#draw()).observe(this.#figure);
  }

  get element() {
    return this.#figure;
  }

  show(shown) {
    this.#shown = shown;
    this.#draw();
  }

  #draw() {
    const width = this.#figure.clientWidth;
    if (!this.#shown || width === 0) return;
    const { dates, values, texts, kind, style, whole } = this.#shown;
    const marks = ticks(Math.max(0, ...values), { whole });
    const names = tickTexts(marks, { style });
    const left = LEFT + Math.max(...names.map(({ length }) => length)) * DIGIT;
    const box = { left, right: width - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM };
    const across = (box.right - left) / dates.length;
    const x = (at) => left + (at + 0.5) * across;
    const y = (value) => box.bottom - (value / marks.at(-1)) * (box.bottom - box.top);
    this.#svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    this.#svg.setAttribute('width', width);
    const about = make('desc', { id: `${this.#caption.id}-said` }, summary(this.#shown));
    this.#svg.replaceChildren(
      about,
      axes(box, marks, names, y),
      days(box, dates, x),
      kind === 'bars' ? bars(values, { x, y, across, box }) : line(values, { x, y }),
      hovers(dates, texts, { x, across, box }),
    );
  }
}

function axes({ left, right }, marks, names, y) {
  return group('axis', marks.flatMap((mark, at) => [
    make('line', { x1: left, x2: right, y1: y(mark), y2: y(mark), class: mark === 0 ? 'zero' : 'mark' }),
    make('text', { x: left - 6, y: y(mark), 'text-anchor': 'end', 'dominant-baseline': 'middle' }, names[at]),
  ]));
}

// The last one stays within the picture; on the other side the axis leaves room enough.
function days({ left, right, bottom }, dates, x) {
  const names = namedDays(dates.length, right - left, ROOM);
  return group('axis', names.map((at) => {
    const middle = Math.min(x(at), right + RIGHT - NAME / 2);
    return make('text', { x: middle, y: bottom + 17, 'text-anchor': 'middle' }, dayText(dates[at]));
  }));
}

function bars(values, { x, y, across, box }) {
  const width = Math.max(1, Math.min(28, across * 0.72));
  return group('bars', values.map((value, at) =>
    make('rect', { x: x(at) - width / 2, width, y: y(value), height: box.bottom - y(value), ...open(at, values) }),
  ));
}

// It has a hole where there is nothing to draw, and a dot for each value, which one between two holes needs to be seen.
function line(values, { x, y }) {
  const parts = [];
  values.forEach((value, at) => {
    if (value === null) return;
    const point = `${x(at)},${y(value)}`;
    if (at > 0 && values[at - 1] !== null) parts.at(-1).push(point);
    else parts.push([point]);
  });
  const radius = values.length > 60 ? 1.5 : 3;
  const dots = values.flatMap((value, at) => (value === null ? [] : [make('circle', { cx: x(at), cy: y(value), r: radius, ...open(at, values) })]));
  return group('line', [...parts.map((points) => make('polyline', { points: points.join(' ') })), ...dots]);
}

// The last day goes on.
const open = (at, values) => (at === values.length - 1 ? { class: 'today' } : {});

// The pointer on a day is told the day and its value.
function hovers(dates, texts, { x, across, box }) {
  return group('hovers', dates.map((date, at) => {
    const area = make('rect', { x: x(at) - across / 2, width: across, y: box.top, height: box.bottom - box.top });
    area.append(make('title', {}, `${wholeDay(date)}: ${texts[at]}`));
    return area;
  }));
}

function summary({ dates, values, texts }) {
  const most = Math.max(0, ...values);
  const many = dates.length === 1 ? 'One day' : `${dates.length} days to ${wholeDay(dates.at(-1))}`;
  if (most === 0) return `${many}: nothing.`;
  const at = values.indexOf(most);
  return `${many}: at most ${texts[at]}, on ${wholeDay(dates[at])}.`;
}

function group(name, children) {
  const element = make('g', { class: name });
  element.append(...children);
  return element;
}

function make(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
