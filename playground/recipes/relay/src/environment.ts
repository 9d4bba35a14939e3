// A Relay environment for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token.
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime';
import type { FetchFunction, GraphQLResponse, SubscribeFunction } from 'relay-runtime';
import { openSocket } from 'waxwing-recipe-resume';
import { currentToken, endSession } from './session';

const send: FetchFunction = async ({ text }, variables) => {
  const token = currentToken();
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query: text, variables }) });
  const answer = await response.json();
  // A request with a token is answered so where the token is unknown or its session has ended.
  if (token && response.status === 401 && answer.errors?.[0]?.extensions?.code === 'UNAUTHENTICATED') endSession(token);
  return answer;
};

const socket = openSocket({ url: new URL('/graphql', location.href).href, token: currentToken, onEnded: endSession });

const subscribe: SubscribeFunction = ({ text }, variables) =>
  Observable.create<GraphQLResponse>((sink) =>
    socket.subscribe({ query: text!, variables }, { ...sink, next: (result) => sink.next(result as GraphQLResponse) }),
  );

export const createEnvironment = () =>
  new Environment({ network: Network.create(send, subscribe), store: new Store(new RecordSource()) });
