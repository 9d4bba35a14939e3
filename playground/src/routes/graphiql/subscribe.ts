// Runs a subscription of GraphiQL over a socket of its own, as the session's user unless the caller's own headers say otherwise. The client
// reconnects by itself.
import { createClient } from 'graphql-ws';
import { currentToken, endRefusedSession } from '../../session/store.ts';
import type { Request } from './send.ts';

// The close code for a token that the server refuses.
const FORBIDDEN = 4403;

// An iterator rather than a generator: a generator that waits for an event cannot be stopped.
export function subscribe(request: Request, ownHeaders?: Record<string, string>) {
  const own = new Headers(ownHeaders).get('Authorization');
  const token = own ? null : currentToken();
  const authorization = own ?? (token && `Bearer ${token}`);
  const results = createClient({
    url: new URL('/graphql', location.href).href.replace(/^http/, 'ws'),
    connectionParams: authorization ? { authorization } : {},
    shouldRetry: (event) => !(event instanceof CloseEvent && event.code === FORBIDDEN),
  }).iterate({ ...request, variables: request.variables as Record<string, unknown> });
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => results.next().catch((error: unknown) => explain(error, token)),
    return: () => results.return?.() ?? Promise.resolve({ done: true as const, value: undefined }),
    throw: (error: unknown) => results.throw?.(error) ?? Promise.reject(error),
  };
}

// Turns a close event into an error with a message.
function explain(error: unknown, token: string | null): never {
  if (!(error instanceof CloseEvent)) throw error;
  if (token && error.code === FORBIDDEN) endRefusedSession(token);
  throw new Error(`The socket was closed: ${error.code} ${error.reason}`.trim());
}
