// A graphql-ws client for Waxwing: it sends the session's token, reconnects for as long as it takes, and resumes subscriptions.
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { resuming } from './resuming.js';

// The server pings every 25 s: a connection on which nothing comes for longer is dead, though nobody has closed it.
const SILENCE_MS = 40_000;
const LONGEST_WAIT_MS = 30_000;
// The server closes with it when the token names no session, also in the middle of a subscription.
const FORBIDDEN = 4403;

export type Options = {
  // Of /graphql, with http or https.
  url: string;
  // Asked for each connection: a reconnect uses the token of that moment.
  token(): string | null;
  // Takes the token that was refused.
  onEnded(refused: string): void;
  // Browsers and Node.js 22 bring their own.
  webSocketImpl?: unknown;
};

export function openSocket({ url, token, onEnded, webSocketImpl }: Options): Client {
  let sent: string | null = null;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => client.terminate(), SILENCE_MS);
  };
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl,
    connectionParams: () => {
      sent = token();
      return sent ? { authorization: `Bearer ${sent}` } : {};
    },
    // The default is five attempts, each after twice the time of the one before.
    retryAttempts: Infinity,
    // Half of it is chance: the clients of a server that restarts do not come back in one moment.
    retryWait: (retries) => sleep(Math.min(500 * 2 ** retries, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2)),
    shouldRetry: (end) => codeOf(end) !== FORBIDDEN,
    // Keeps the connection from one operation to the next.
    lazyCloseTimeout: 1_000,
    on: {
      opened: heard,
      message: heard,
      closed: (end) => {
        clearTimeout(silence);
        if (sent && codeOf(end) === FORBIDDEN) onEnded(sent);
      },
    },
  });
  return resuming(client);
}

const codeOf = (end: unknown) => (end as { code?: number }).code;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
