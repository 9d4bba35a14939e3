// Sends a query with fetch and follows the public stream over a WebSocket.
import { createClient } from 'graphql-ws';

const server = import.meta.env.VITE_WAXWING_URL ?? location.origin;
const url = new URL('/graphql', server).href;

const show = (id: string, text: string) => (document.getElementById(id)!.textContent = text);

const QUERY = 'query ($login: String!) { user(login: $login) { name followersCount } }';
const STREAM = 'subscription { statusEvents(filter: { sample: { percent: 100 } }) { __typename } }';

try {
  const body = JSON.stringify({ query: QUERY, variables: { login: 'ada' } });
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const { data } = await response.json();
  show('query', `${data.user.name} has ${data.user.followersCount} followers. Request ${response.headers.get('x-request-id')}.`);
} catch (error) {
  // The reason is in the browser's console and in the server's log, not in the error.
  show('query', `The server did not respond to this page: ${error}`);
}

const socket = createClient({ url: url.replace(/^http/, 'ws'), lazy: false, retryAttempts: 0, onNonLazyError: () => {} });
socket.on('connected', () => show('subscription', 'Following the public stream.'));
socket.on('closed', () => show('subscription', 'The socket was closed.'));
socket.subscribe({ query: STREAM }, { next: () => {}, error: () => {}, complete: () => {} });
