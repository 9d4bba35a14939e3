// Follows a subscription over a socket of its own, as the session's user unless the caller's own headers say otherwise. The client
// connects again by itself.
import { createClient } from 'graphql-ws';
import { currentToken, endSession } from './session/store.js';

// The code with which the server closes a socket whose token proves nothing (any more).
const FORBIDDEN = 4403;

// An iterator rather than a generator: a generator that waits for an event could not be told to stop.
export function subscribe(request, ownHeaders) {
  const own = new Headers(ownHeaders).get('Authorization');
  const token = own ? null : currentToken();
  const authorization = own ?? (token && `Bearer ${token}`);
  const results = createClient({
    url: new URL('/graphql', location.href).href.replace(/^http/, 'ws'),
    connectionParams: authorization ? { authorization } : {},
    shouldRetry: (event) => event?.code !== FORBIDDEN,
  }).iterate(request);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next().catch((error) => explain(error, token)),
    return: () => results.return(),
    throw: (error) => results.throw(error),
  };
}

// A socket's end is an event, which says nothing as a text.
function explain(error, token) {
  if (!(error instanceof CloseEvent)) throw error;
  if (token && error.code === FORBIDDEN) endSession(token, 'The session has ended. Log in again.');
  throw new Error(`The socket was closed: ${error.code} ${error.reason}`.trim());
}
