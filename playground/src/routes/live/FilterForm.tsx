// The filter of the public stream, of one kind, with the server's error beside the field.
//
// The server checks the bounds. The browser only checks that numbers are numbers.
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Filter } from '../../timeline/usePublic.ts';
import { Boxes } from './Boxes.tsx';
import { filterOf, KINDS, type Kind } from './filter.ts';

interface Props {
  onAsk: (filter: Filter) => void;
  complaint: string;
  // Distinguishes two equal errors in a row.
  version: number;
}

export function FilterForm({ onAsk, complaint, version }: Props) {
  const [kind, setKind] = useState<Kind>('sample');
  const form = useRef<HTMLFormElement>(null);
  // An error belongs to the kind of filter that was sent.
  const [asked, setAsked] = useState<Kind>('sample');
  useEffect(() => {
    if (complaint) form.current?.querySelector<HTMLElement>('[data-kind] :is(input, textarea)')?.focus();
  }, [complaint, version]);
  const submit = (event: React.FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setAsked(kind);
    onAsk(filterOf(kind, new FormData(event.currentTarget)));
  };
  const message = asked === kind ? complaint : '';
  return (
    <form ref={form} aria-label="Filter" onSubmit={submit}>
      <fieldset className="choice">
        <legend>Filter by</legend>
        {Object.entries(KINDS).map(([name, label]) => (
          <label key={name}>
            <input type="radio" name="kind" value={name} checked={kind === name} onChange={() => setKind(name as Kind)} />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      <Fields key={kind} kind={kind} complaint={message} />
      <button className="primary">Follow</button>
    </form>
  );
}

function Fields({ kind, complaint }: { kind: Kind; complaint: string }) {
  const field = { 'aria-invalid': complaint !== '', 'aria-describedby': `${kind}-hint ${kind}-error` };
  const parts: Record<Kind, { fields: ReactNode; hint: string }> = {
    sample: {
      fields: (
        <>
          <label>
            Percent <input name="percent" type="number" step="any" defaultValue="100" required {...field} />
          </label>
          <label>
            Name <input name="identifier" autoComplete="off" {...field} />
          </label>
        </>
      ),
      hint: 'Above 0, at most 100. A name is optional: everybody who uses the same one gets the same posts.',
    },
    track: {
      fields: (
        <label>
          Phrases <textarea name="track" rows={4} spellCheck={false} {...field} />
        </label>
      ),
      hint: 'One per line, at most 400. A post has every word of at least one. #tag and @login are words of their own.',
    },
    follow: {
      fields: (
        <label>
          Logins <textarea name="follow" rows={4} autoCapitalize="none" spellCheck={false} {...field} />
        </label>
      ),
      hint: 'One per line, at most 5,000. Posts of these accounts, and posts that mention them.',
    },
    locations: {
      fields: <Boxes field={field} />,
      hint: 'Degrees; at most 25 boxes. A box whose west is greater than its east crosses the antimeridian.',
    },
  };
  const { fields, hint } = parts[kind];
  return (
    <fieldset data-kind={kind}>
      <legend className="visually-hidden">{KINDS[kind]}</legend>
      {fields}
      <p className="hint" id={`${kind}-hint`}>
        {hint}
      </p>
      <p className="error" id={`${kind}-error`} role="alert">
        {complaint}
      </p>
    </fieldset>
  );
}
