// An urql client for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token. It belongs to one session:
// another session needs another cache, and another socket.
import { Client, fetchExchange, mapExchange, subscriptionExchange } from '@urql/core';
import { openSocket } from 'waxwing-recipe-resume';
import WebSocket from 'ws';
import { createCache } from './cache.js';

export type Session = { token: string | null; onEnded(token: string): void };

export function createClient(url: string, { token, onEnded }: Session) {
  const errors = mapExchange({
    // The response to a token that is unknown or whose session has ended, with status 401.
    onError(error) {
      if (token && error.graphQLErrors[0]?.extensions['code'] === 'UNAUTHENTICATED') onEnded(token);
    },
  });
  const socket = openSocket({ url, token, onEnded, webSocketImpl: WebSocket });
  const subscriptions = subscriptionExchange({
    forwardSubscription: ({ query = '', ...request }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query }, sink) }),
    }),
  });
  const client = new Client({
    url,
    fetchOptions: token ? { headers: { authorization: `Bearer ${token}` } } : {},
    // The default is GET, which the production profile refuses without a session: any page could have sent it.
    preferGetMethod: false,
    exchanges: [createCache(), errors, fetchExchange, subscriptions],
  });
  return { client, socket };
}
