// A form that sends its fields to the server. It is busy meanwhile, and shows each error beside its field.
import { createContext, use, useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { newKey } from '../api/new-key.ts';
import { useBusy } from './useBusy.ts';

type Messages = Record<string, string>;
const FieldMessages = createContext<Messages>({});

interface Props {
  label: string;
  className?: string;
  // Names in the path of an error that differ from those of the fields.
  aliases?: Record<string, string>;
  // Sends the fields with an idempotency key and returns the errors. Each attempt with the same input has the same key, so that an input whose response
  // was lost is not applied twice.
  act: (fields: FormData, key: string) => Promise<ErrorMessage[]>;
  onDone?: (form: HTMLFormElement) => void;
  onKeyDown?: React.KeyboardEventHandler;
  button: (busy: boolean) => ReactNode;
  children: ReactNode;
}

export function Form({ label, className, aliases = {}, act, onDone, onKeyDown, button, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [own, setOwn] = useState('');
  const [messages, setMessages] = useState<Messages>({});
  const [busy, run] = useBusy();
  const key = useRef(newKey());
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [messages]);

  const send = async () => {
    if (!form.current) return;
    const errors = await act(new FormData(form.current), key.current);
    const found = errors.map((complaint) => ({ complaint, field: fieldOf(form.current, complaint.path, aliases) }));
    setOwn(messageOf(found.flatMap(({ complaint, field }) => (field ? [] : [complaint]))));
    setMessages(grouped(found));
    if (errors.length > 0 || !form.current) return;
    key.current = newKey();
    onDone?.(form.current);
  };
  return (
    <form
      ref={form}
      aria-label={label}
      className={className}
      onChange={() => (key.current = newKey())}
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        void run(send);
      }}
    >
      <FieldMessages value={messages}>{children}</FieldMessages>
      <p className="error" role="alert">
        {own}
      </p>
      {button(busy)}
    </form>
  );
}

// The last name of the path that is a field of the form: `["keywords", "2"]` is the third row of `keywords`.
function fieldOf(form: HTMLFormElement | null, path: readonly string[], aliases: Record<string, string>): string | undefined {
  const names = path.toReversed().map((name) => aliases[name] ?? name);
  return names.find((name) => {
    const field = form?.elements.namedItem(name);
    return field instanceof HTMLElement && field.offsetParent !== null;
  });
}

function grouped(found: { complaint: ErrorMessage; field: string | undefined }[]): Messages {
  const messages: Messages = {};
  for (const { complaint, field } of found) {
    if (field) messages[field] = [messages[field], complaint.message].filter(Boolean).join(' ');
  }
  return messages;
}

interface FieldProps {
  label: ReactNode;
  name: string;
  // The id of a hint that describes it.
  hint?: string;
  // The control, with the attributes that connect it to its error.
  children: (attributes: { name: string; 'aria-invalid'?: boolean; 'aria-describedby'?: string }) => ReactNode;
}

export function Field({ label, name, hint, children }: FieldProps) {
  const message = use(FieldMessages)[name];
  const id = useId();
  const described = [hint, message && id].filter(Boolean).join(' ');
  const attributes = { name, ...(message && { 'aria-invalid': true }), ...(described && { 'aria-describedby': described }) };
  return (
    <>
      <label>
        {label} {children(attributes)}
      </label>
      {message && (
        <p className="error beside" id={id} role="alert">
          {message}
        </p>
      )}
    </>
  );
}

export function TextField({ label, name, hint, ...input }: { label: ReactNode; name: string; hint?: string } & React.InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => <input autoComplete="off" {...input} {...attributes} />}
    </Field>
  );
}

export function AreaField({ label, name, hint, ...area }: { label: ReactNode; name: string; hint?: string } & React.TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => <textarea {...area} {...attributes} />}
    </Field>
  );
}

interface ChoiceProps extends React.SelectHTMLAttributes<HTMLSelectElement> {
  label: ReactNode;
  name: string;
  hint?: string;
  options: Record<string, string>;
}

export function ChoiceField({ label, name, hint, options, ...select }: ChoiceProps) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <select autoComplete="off" {...select} {...attributes}>
          {Object.entries(options).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
