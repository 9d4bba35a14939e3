// A button that asks for confirmation before an action that cannot be undone. Escape and losing the focus cancel the question.
import { useState } from 'react';
import { onEscape } from './onEscape.ts';
import { useBusy } from './useBusy.ts';

interface Props {
  label: string;
  question: string;
  className?: string;
  // The object of the action, for its accessible name, where several buttons have one label.
  subject?: string;
  act: () => Promise<unknown>;
}

export function ConfirmButton({ label, question, className, subject, act }: Props) {
  const [isAsking, setIsAsking] = useState(false);
  const [busy, run] = useBusy();
  const press = async () => {
    if (!isAsking) return setIsAsking(true);
    await act();
    setIsAsking(false);
  };
  return (
    <button
      type="button"
      className={className}
      aria-label={subject && `${isAsking ? question : label} (${subject})`}
      aria-disabled={busy}
      onClick={() => void run(press)}
      onBlur={() => setIsAsking(false)}
      onKeyDown={isAsking ? onEscape(() => setIsAsking(false)) : undefined}
    >
      {isAsking ? question : label}
    </button>
  );
}
