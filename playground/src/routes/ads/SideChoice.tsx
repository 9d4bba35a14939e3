// Advertiser or publisher.
import { useEffect, useState } from 'react';
import type { Side } from './link.ts';

const SIDES: Record<Side, string> = { advertiser: 'Advertiser', publisher: 'Publisher' };

export function SideChoice({ side, onChange }: { side: Side; onChange: (side: Side) => void }) {
  // The URL changes a moment later.
  const [chosen, setChosen] = useState(side);
  useEffect(() => setChosen(side), [side]);
  const choose = (side: Side) => {
    setChosen(side);
    onChange(side);
  };
  return (
    <form>
      <fieldset className="choice">
        <legend className="visually-hidden">Side</legend>
        {Object.entries(SIDES).map(([value, label]) => (
          <label key={value}>
            <input type="radio" name="side" value={value} checked={chosen === value} onChange={() => choose(value as Side)} />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
    </form>
  );
}
