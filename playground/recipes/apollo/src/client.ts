// An Apollo Client for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token.
import { ApolloClient, ApolloLink, CombinedGraphQLErrors, CombinedProtocolErrors, HttpLink } from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { openSocket } from 'waxwing-recipe-resume';
import WebSocket from 'ws';
import { createCache } from './cache.js';

export type Session = { token: string | null; end(refused: string): void };

export function createClient(url: string, session: Session) {
  const socket = openSocket({ url, token: () => session.token, onEnded: session.end, webSocketImpl: WebSocket });
  const link = ApolloLink.split(isSubscription, new GraphQLWsLink(socket), httpLink(url, session));
  return { client: new ApolloClient({ link, cache: createCache() }), socket };
}

export function httpLink(url: string, session: Session) {
  const withToken = new SetContextLink(({ headers }) => {
    const { token } = session;
    return { token, headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) } };
  });
  const onEnded = new ErrorLink(({ error, operation }) => {
    const { token } = operation.getContext();
    if (token && isEnded(error)) session.end(token);
  });
  return ApolloLink.from([withToken, onEnded, new HttpLink({ uri: url })]);
}

export const isSubscription = ({ operationType }: ApolloLink.Operation) => operationType === OperationTypeNode.SUBSCRIPTION;

// A request with a token is answered so, with status 401, where the token is unknown or its session has ended. A stream over HTTP ends with
// the same error, as one of the protocol.
const isEnded = (error: unknown) =>
  (CombinedGraphQLErrors.is(error) || CombinedProtocolErrors.is(error)) && error.errors[0]?.extensions?.['code'] === 'UNAUTHENTICATED';
