// An Apollo Client whose subscriptions are multipart responses over HTTP, which HttpLink supports: no WebSocket is needed.
import { ApolloClient, ApolloLink } from '@apollo/client';
import { PROTOCOL_ERRORS_SYMBOL, graphQLResultHasProtocolErrors } from '@apollo/client/errors';
import type { CombinedProtocolErrors } from '@apollo/client/errors';
import { defer, retry, tap, timer } from 'rxjs';
import { createCache } from './cache.js';
import { httpLink, isSubscription } from './client.js';
import type { Session } from './client.js';

const LONGEST_WAIT_MS = 30_000;
// Temporary errors. The server sends the first one when it stops.
const TEMPORARY = ['GOING_AWAY', 'UNREAD_RESPONSES', 'STORAGE_UNAVAILABLE', 'OVERLOADED', 'RATE_LIMITED', 'DEADLINE_EXCEEDED'];

export function createMultipartClient(url: string, session: Session, onRetry: (reason: unknown) => void) {
  const link = ApolloLink.from([resumingLink(onRetry), httpLink(url, session)]);
  return new ApolloClient({ link, cache: createCache() });
}

// Sends a subscription again when its connection ends, with the cursor of the last event as `after`.
const resumingLink = (onRetry: (reason: unknown) => void) =>
  new ApolloLink((operation, forward) => {
    if (!isSubscription(operation)) return forward(operation);
    let { after } = operation.variables;
    const attempt = defer(() => {
      operation.variables = { ...operation.variables, after };
      return forward(operation);
    });
    const remember = (result: ApolloLink.Result) => {
      const error = firstError(result);
      // A temporary error is thrown, so that `retry` sends the subscription again.
      if (TEMPORARY.includes(String(error?.extensions?.['code']))) throw error;
      after = cursorOf(result) ?? after;
    };
    const delay = (reason: Failure, attempts: number) => {
      onRetry(reason);
      const backoff = Math.min(500 * 2 ** attempts, LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);
      return timer(1000 * Number(reason.extensions?.['retryAfter'] ?? 0) || backoff);
    };
    return attempt.pipe(tap(remember), retry({ delay, resetOnSuccess: true }));
  });

type Failure = { extensions?: Record<string, unknown> };

// The first error of the operation or of the transport. HttpLink has the latter under a symbol.
function firstError(result: ApolloLink.Result): Failure | undefined {
  if (!graphQLResultHasProtocolErrors(result)) return result.errors?.[0];
  return (result.extensions[PROTOCOL_ERRORS_SYMBOL] as CombinedProtocolErrors).errors[0];
}

// A subscription has one field, and every event has a cursor.
const cursorOf = ({ data }: ApolloLink.Result) => Object.values((data ?? {}) as Record<string, { cursor?: string }>)[0]?.cursor;
