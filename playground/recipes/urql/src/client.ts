// An urql client for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token.
import { Client, fetchExchange, makeOperation, mapExchange, subscriptionExchange } from '@urql/core';
import { openSocket } from 'waxwing-recipe-resume';
import WebSocket from 'ws';
import { createCache } from './cache.js';

export type Session = { token: string | null; end(refused: string): void };

export function createClient(url: string, session: Session) {
  const withToken = mapExchange({
    onOperation(operation) {
      const { token } = session;
      const fetchOptions = token ? { headers: { authorization: `Bearer ${token}` } } : {};
      return makeOperation(operation.kind, operation, { ...operation.context, token, fetchOptions });
    },
    // A request with a token is answered so, with status 401, where the token is unknown or its session has ended.
    onError(error, { context }) {
      const isEnded = error.graphQLErrors[0]?.extensions['code'] === 'UNAUTHENTICATED';
      if (isEnded && context['token']) session.end(context['token']);
    },
  });
  const socket = openSocket({ url, token: () => session.token, onEnded: session.end, webSocketImpl: WebSocket });
  const subscriptions = subscriptionExchange({
    forwardSubscription: ({ query = '', ...request }) => ({
      subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query }, sink) }),
    }),
  });
  const client = new Client({
    url,
    // The default is GET, which the production profile refuses without a session: any page could have sent it.
    preferGetMethod: false,
    exchanges: [createCache(), withToken, fetchExchange, subscriptions],
  });
  return { client, socket };
}
