// The client of the API: urql with a normalised cache, and subscriptions that resume. One client per session, so that nothing of one account is
// left in the cache of another.
import { Client, fetchExchange, mapExchange, subscriptionExchange, type CombinedError } from 'urql';
import { endSession, type Token } from '../session/store.ts';
import { cache } from './cache.ts';
import { follow } from './follow.ts';

export function createClient(token: Token | null): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: token ? { headers: { Authorization: `Bearer ${token}` } } : {},
    exchanges: [
      mapExchange({ onError: (error) => void (token && isEnded(error) && endSession(token, SESSION_ENDED)) }),
      cache(),
      subscriptionExchange({ forwardSubscription: follow(token) }),
      fetchExchange,
    ],
  });
}

export const SESSION_ENDED = 'The session has ended. Log in again.';

// Both signs are needed: a 401 of a proxy says nothing about the session.
function isEnded({ response, graphQLErrors }: CombinedError): boolean {
  return response?.status === 401 && graphQLErrors[0]?.extensions.code === 'UNAUTHENTICATED';
}
