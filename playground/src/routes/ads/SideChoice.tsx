// Advertiser or publisher.
import type { Side } from './link.ts';

const SIDES: Record<Side, string> = { advertiser: 'Advertiser', publisher: 'Publisher' };

export function SideChoice({ side, onChange }: { side: Side; onChange: (side: Side) => void }) {
  return (
    <form>
      <fieldset className="choice">
        <legend className="visually-hidden">Side</legend>
        {Object.entries(SIDES).map(([value, label]) => (
          <label key={value}>
            <input type="radio" name="side" value={value} checked={side === value} onChange={() => onChange(value as Side)} />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
    </form>
  );
}
