// The messages that a server in development has written to its outbox in place of sending them, newest first.
import { useEffect, useState } from 'react';
import { Time } from '../../ui/Time.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { parseMessage, withUrls, type Message } from './message.ts';
import './outbox.css';

export function Component() {
  useTitle('outbox');
  const { messages, error, busy, refresh } = useMessages();
  return (
    <main className="columns single">
      <h1>Outbox</h1>
      <p>
        In development, without a mail server, emails are files. These are the newest 20.{' '}
        <button type="button" className="quiet" aria-disabled={busy} onClick={refresh}>
          Refresh
        </button>
      </p>
      <p className="error" role="alert">
        {error}
      </p>
      {messages?.length === 0 && <p role="status">There are no messages yet. Sign up with an address, or change an account with one, to get messages.</p>}
      {messages && messages.length > 0 && (
        <ol className="messages" aria-label="Messages">
          {messages.map(({ name, message }) => (
            <li key={name}>
              <Letter message={message} />
            </li>
          ))}
        </ol>
      )}
    </main>
  );
}

function Letter({ message: { to, subject, date, text } }: { message: Message }) {
  return (
    <article className="panel">
      <h2>{subject}</h2>
      <p className="hint">
        To {to}
        {date && (
          <>
            , <Time at={date} />
          </>
        )}
      </p>
      <p className="text">{withUrls(text).map((piece, at) => (at % 2 ? <a key={at} href={piece}>{piece}</a> : piece))}</p>
    </article>
  );
}

interface State {
  messages: { name: string; message: Message }[] | null;
  error: string;
}

const HIDDEN = 'This server does not show its outbox. It does so in the development profile, without a mail server, and if it listens on a loopback address.';

function useMessages() {
  const [state, setState] = useState<State>({ messages: null, error: '' });
  const [busy, run] = useBusy();
  const refresh = () => void run(async () => setState(await read()));
  useEffect(() => {
    refresh();
    addEventListener('focus', refresh);
    return () => removeEventListener('focus', refresh);
  }, []);
  return { ...state, busy, refresh };
}

async function read(): Promise<State> {
  const response = await fetch('/outbox.json').catch(() => null);
  if (!response) return { messages: null, error: 'The server could not be reached.' };
  if (!response.ok) return { messages: null, error: response.status === 404 ? HIDDEN : `The server responded with HTTP ${response.status}.` };
  const { messages } = (await response.json()) as { messages: { name: string; source: string }[] };
  return { messages: messages.map(({ name, source }) => ({ name, message: parseMessage(source) })), error: '' };
}
