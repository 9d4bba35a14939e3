// The client of the API: urql with a normalised cache and subscriptions that resume. Each session has its own client, so no account reads the cache of
// another.
import { Client, fetchExchange, mapExchange, subscriptionExchange, type CombinedError } from 'urql';
import { fetchOf } from '../session/requests.ts';
import { endRefusedSession, type Token } from '../session/store.ts';
import { cache } from './cache.ts';
import { follow } from './follow.ts';

interface Settings {
  // Without a cache, a query returns exactly what the server returns.
  hasCache?: boolean;
  // The session of the token is unknown or has ended, or the server refuses the JWT.
  onEnded?: (token: Token) => void;
  // The server has responded to a mutation.
  onMutation?: () => void;
  // Sends the log-out, for which other requests of the session wait.
  isLogOut?: boolean;
}

export function createClient(token: Token | null, { hasCache = true, onEnded = endRefusedSession, onMutation, isLogOut }: Settings = {}): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    ...(token && !isLogOut && { fetch: fetchOf(token) }),
    fetchOptions: token ? { headers: { Authorization: `Bearer ${token}` } } : {},
    exchanges: [
      mapExchange({
        onError: (error) => void (token && isEnded(error) && onEnded(token)),
        onResult: ({ operation }) => void (operation.kind === 'mutation' && onMutation?.()),
      }),
      ...(hasCache ? [cache()] : []),
      subscriptionExchange({ forwardSubscription: follow(token) }),
      fetchExchange,
    ],
  });
}

// Reads and follows the public stream without a session, so that a log-in, a log-out or the end of a session does not stop it.
export const publicClient = createClient(null);

// The code for a valid JWT to which no account belongs.
export const NOT_PROVISIONED = 'NOT_PROVISIONED';

export function isEnded({ response, graphQLErrors }: CombinedError): boolean {
  return isRefusal(response?.status, graphQLErrors[0]?.extensions.code);
}

// Whether the server refuses the token of a request. Both are required: a 401 without the code comes from a proxy and says nothing about the token.
export function isRefusal(status: number | undefined, code: unknown): boolean {
  return (status === 401 && code === 'UNAUTHENTICATED') || (status === 403 && code === NOT_PROVISIONED);
}
