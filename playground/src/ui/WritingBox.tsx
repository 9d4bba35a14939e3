// A text box with the length of the text and the server's errors. Control and Enter send the text, or Enter alone.
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { newKey } from '../api/new-key.ts';
import { onEscape } from './onEscape.ts';
import { useBusy } from './useBusy.ts';

const NUMBER = new Intl.NumberFormat();
// The length in grapheme clusters, as the server counts it.
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

interface Props {
  // The name of the form, and of its button.
  label: string;
  // The name of the text field.
  field: string;
  max: number;
  rows?: number;
  text?: string;
  placeholder?: string;
  className?: string;
  // Sends a message with an idempotency key.
  send: (message: string, key: string) => Promise<ErrorMessage[]>;
  onSent?: () => void;
  // Cancels. A box with this function takes the focus when it opens.
  onCancel?: () => void;
  // Enter sends the text; Shift and Enter begin a line.
  sendsOnEnter?: boolean;
  // The text was changed.
  onWrite?: (text: string) => void;
  // Identifies the values of further controls. The same text with other values is another message.
  variant?: string;
  // Further controls.
  children?: ReactNode;
}

export function WritingBox({ label, field, max, rows = 2, text: initial = '', placeholder, className, send, onSent, onCancel, sendsOnEnter, onWrite, variant, children }: Props) {
  const [text, setText] = useState(initial);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const id = useId();
  // Each attempt with the same text has the same key: a message whose response was lost is not posted twice.
  const key = useRef(newKey());
  const latest = useRef(text);
  latest.current = text;
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => void (onCancel && area.current?.focus()), []);
  useEffect(() => void (key.current = newKey()), [variant]);

  const write = (text: string) => {
    key.current = newKey();
    setError('');
    setText(text);
    onWrite?.(text);
  };
  const submit = async () => {
    const errors = await send(text, key.current);
    setError(messageOf(errors));
    // Text that the user has changed meanwhile is kept.
    if (errors.length > 0 || latest.current !== text) return;
    write('');
    onSent?.();
  };
  const length = [...CHARACTERS.segment(text.trim().normalize('NFC'))].length;
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    const sends = event.ctrlKey || event.metaKey || (sendsOnEnter && !event.shiftKey && !event.nativeEvent.isComposing);
    if (event.key === 'Enter' && sends) {
      event.preventDefault();
      event.currentTarget.form?.requestSubmit();
    } else if (onCancel) onEscape(onCancel)(event);
  };
  return (
    <form
      className={className}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void run(submit);
      }}
    >
      <textarea
        ref={area}
        rows={rows}
        dir="auto"
        aria-label={field}
        placeholder={placeholder}
        value={text}
        aria-invalid={length > max}
        aria-describedby={`${id}count ${id}error`}
        onChange={({ target }) => write(target.value)}
        onKeyDown={onKeyDown}
      />
      <p className="error" id={`${id}error`} role="alert">
        {error}
      </p>
      <div className="foot">
        {children}
        <span className={length > max ? 'count over' : 'count'} id={`${id}count`}>
          {NUMBER.format(length)} / {NUMBER.format(max)}
        </span>
        {onCancel && (
          <button type="button" className="quiet" onClick={onCancel}>
            Cancel
          </button>
        )}
        <button className="primary" aria-disabled={busy}>
          {label}
        </button>
      </div>
    </form>
  );
}
