// The requests of a session that wait for a response. A log-out is sent after them, and those that begin meanwhile wait for its end: the server would
// refuse what arrives after it.
import type { Token } from './store.ts';

// A log-out waits no longer for other requests.
const LONGEST_MS = 3_000;

const waiting = new Map<Token, Set<Promise<unknown>>>();
// Whether the session has ended.
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
export function runLogOut<Result>(token: Token, logOut: () => Promise<Result>, hasEnded: (result: Result) => boolean): Promise<Result> {
  const others = Promise.allSettled(waiting.get(token) ?? []);
  const result = Promise.race([others, new Promise((resolve) => setTimeout(resolve, LONGEST_MS))]).then(logOut);
  logOuts.set(token, result.then(hasEnded));
  return result.finally(() => logOuts.delete(token));
}
