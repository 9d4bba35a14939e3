// Chooses the side that a narrow screen shows.
import type { Session } from '../../session/store.ts';
import { SIDES, type SideName } from './sessions.ts';
import type { BySide } from './world.ts';

interface Props {
  sessions: BySide<Session>;
  shown: SideName;
  onChange: (side: SideName) => void;
}

export function SideChoice({ sessions, shown, onChange }: Props) {
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">Person</legend>
      {SIDES.map((side) => (
        <label key={side}>
          <input type="radio" name="side" value={side} checked={shown === side} onChange={() => onChange(side)} />
          <span dir="auto">{sessions[side].user.name}</span>
        </label>
      ))}
    </fieldset>
  );
}
