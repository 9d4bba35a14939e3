// A graphql-ws client for Waxwing: it sends the session's token, reconnects without a limit, and resumes subscriptions. It belongs to one session: after
// a log-in or a log-out, dispose of it and open another one.
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import { resuming } from './resuming.js';

// The server pings every 25 s: a connection without messages for longer is dead, even if no close has arrived.
const SILENCE_MS = 40_000;
const LONGEST_WAIT_MS = 30_000;
// The server closes with this code when the session of the token has ended, also during a subscription.
const FORBIDDEN = 4403;

export type Options = {
  // The URL of /graphql, with http or https.
  url: string;
  // The server authenticates a connection once, when it opens.
  token: string | null;
  // Receives the token when the server closes the connection because the session has ended.
  onEnded(token: string): void;
  // Browsers and Node.js 22 have a WebSocket.
  webSocketImpl?: unknown;
};

export function openSocket({ url, token, onEnded, webSocketImpl }: Options): Client {
  let silence: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(silence);
    silence = setTimeout(() => client.terminate(), SILENCE_MS);
  };
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl,
    connectionParams: token ? { authorization: `Bearer ${token}` } : {},
    // The default is five attempts, each after twice the wait of the previous one.
    retryAttempts: Infinity,
    // Half of the wait is random, so that clients of a restarted server do not reconnect at once.
    retryWait: (retries) => sleep(Math.min(500 * 2 ** retries, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2)),
    shouldRetry: (end) => codeOf(end) !== FORBIDDEN,
    // Keeps the connection from one operation to the next.
    lazyCloseTimeout: 1_000,
    on: {
      opened: watch,
      message: watch,
      closed: (end) => {
        clearTimeout(silence);
        if (token && codeOf(end) === FORBIDDEN) onEnded(token);
      },
    },
  });
  return resuming(client);
}

const codeOf = (end: unknown) => (end as { code?: number }).code;
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
