// An Apollo Client for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token. It belongs to one
// session: another session needs another cache, and another socket.
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, CombinedProtocolErrors, HttpLink } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { openSocket } from 'waxwing-recipe-resume';
import WebSocket from 'ws';
import { createCache } from './cache.js';

export type Session = { token: string | null; onEnded(token: string): void };

export function createClient(url: string, session: Session) {
  const socket = openSocket({ url, ...session, webSocketImpl: WebSocket });
  const link = ApolloLink.split(isSubscription, new GraphQLWsLink(socket), httpLink(url, session));
  return { client: new ApolloClient({ link, cache: createCache() }), socket };
}

export function httpLink(url: string, { token, onEnded }: Session) {
  const errors = new ErrorLink(({ error }) => {
    if (token && isEnded(error)) onEnded(token);
  });
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return ApolloLink.from([errors, new HttpLink({ uri: url, headers })]);
}

export const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === OperationTypeNode.SUBSCRIPTION;

// The response to a token that is unknown or whose session has ended, with status 401. A multipart response ends with the same error, as a protocol error.
const isEnded = (error: unknown) =>
  (CombinedGraphQLErrors.is(error) || CombinedProtocolErrors.is(error)) && error.errors[0]?.extensions?.['code'] === 'UNAUTHENTICATED';
