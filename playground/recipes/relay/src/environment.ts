// A Relay environment for Waxwing: queries and mutations over HTTP, subscriptions over a WebSocket, both with the session's token. It belongs to one
// session: another session needs another store, and another socket.
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime';
import type { FetchFunction, GraphQLResponse, SubscribeFunction } from 'relay-runtime';
import { openSocket } from 'waxwing-recipe-resume';
import { endSession } from './session';

export function createEnvironment(token: string | null) {
  const socket = openSocket({ url: new URL('/graphql', location.href).href, token, onEnded: endSession });
  const subscribe: SubscribeFunction = ({ text }, variables) =>
    Observable.create<GraphQLResponse>((sink) =>
      socket.subscribe({ query: text!, variables }, { ...sink, next: (result) => sink.next(result as GraphQLResponse) }),
    );
  const network = Network.create(sendWith(token), subscribe);
  return new Environment({ network, store: new Store(new RecordSource()) });
}

const sendWith =
  (token: string | null): FetchFunction =>
  async ({ text }, variables) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query: text, variables }) });
    const body = await response.json();
    // The response to a token that is unknown or whose session has ended.
    if (token && response.status === 401 && body.errors?.[0]?.extensions?.code === 'UNAUTHENTICATED') endSession(token);
    return body;
  };
