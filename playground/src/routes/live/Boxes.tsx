// The boxes of a filter by places. The last one cannot be removed: a filter needs a box.
import { useRef, useState } from 'react';
import { EDGES } from './filter.ts';

const LABELS = ['West', 'South', 'East', 'North'];
const EUROPE = ['-10', '35', '30', '60'];

export function Boxes({ field }: { field: object }) {
  const [boxes, setBoxes] = useState([0]);
  const next = useRef(1);
  const add = useRef<HTMLButtonElement>(null);
  const remove = (box: number) => {
    setBoxes(boxes.filter((other) => other !== box));
    add.current?.focus();
  };
  return (
    <>
      <ol className="boxes">
        {boxes.map((box) => (
          <li key={box} className="box">
            {EDGES.map((name, at) => (
              <label key={name}>
                {LABELS[at]}{' '}
                <input name={name} type="number" step="any" required autoFocus={box > 0 && at === 0} defaultValue={box === 0 ? EUROPE[at] : ''} {...field} />
              </label>
            ))}
            {boxes.length > 1 && (
              <button type="button" className="quiet" onClick={() => remove(box)}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ol>
      <button type="button" ref={add} onClick={() => setBoxes([...boxes, next.current++])}>
        Add a box
      </button>
    </>
  );
}
