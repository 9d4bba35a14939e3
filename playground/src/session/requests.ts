// The requests of a session that wait for a response. A log-out is sent after them, and those that begin meanwhile are sent only if it fails: the server
// would refuse what arrives after it.
import type { Token } from './store.ts';

// A log-out waits no longer for other requests, nor others for its response.
const LONGEST_MS = 1_000;

const waiting = new Map<Token, Set<Promise<unknown>>>();
// Whether the session has ended. An entry stays if it has, since the page may send requests until it is rendered without the session.
const logOuts = new Map<Token, Promise<boolean>>();

// `fetch` for the operations of a session.
export function fetchOf(token: Token): typeof fetch {
  return async (input, init) => {
    if (await logOuts.get(token)) throw new Error('The session has ended.');
    const response = fetch(input, init);
    const requests = waiting.get(token) ?? new Set();
    waiting.set(token, requests.add(response));
    return response.finally(() => {
      requests.delete(response);
      if (!requests.size) waiting.delete(token);
    });
  };
}

// Runs a log-out alone.
export async function runLogOut<Result>(token: Token, logOut: () => Promise<Result>, hasEnded: (result: Result) => boolean): Promise<Result> {
  const others = Promise.allSettled(waiting.get(token) ?? []);
  const result = Promise.race([others, elapsed(LONGEST_MS)]).then(logOut);
  const ended = Promise.race([result.then(hasEnded), elapsed(2 * LONGEST_MS).then(() => false)]);
  logOuts.set(token, ended);
  if (!(await ended) && logOuts.get(token) === ended) logOuts.delete(token);
  return result;
}

function elapsed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
