// Follows a home. Stop the server and start it again: no event is missing, and none is repeated.
import WebSocket from 'ws';
import { followHome } from './home.js';
import { openSocket } from './socket.js';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

const token = await logIn();
const onEnded = () => console.log('session: ended, ask for a log-in');
const client = openSocket({ url, token, onEnded, webSocketImpl: WebSocket });
client.on('closed', () => console.log('connection closed'));

const following = followHome(client, {
  show: (statuses) => console.log(`home: ${statuses.length} entries, the newest: ${statuses[0]?.message}`),
  apply(event) {
    if (event.__typename === 'StatusPosted') console.log(`posted: ${event.status.message}`);
    if (event.__typename === 'StatusDeleted') console.log(`deleted: ${event.statusId}`);
    if (event.__typename === 'StreamGap') console.log(`gap: ${event.reason}`);
  },
});
await following.catch((reason) => console.log('stopped:', reason));

async function logIn(): Promise<string> {
  const query = 'mutation ($input: LogInInput!) { logIn(input: $input) { session { token } userErrors { message } } }';
  const body = JSON.stringify({ query, variables: { input: { login, password } } });
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const { data } = await response.json();
  if (!data.logIn.session) throw new Error(data.logIn.userErrors[0].message);
  return data.logIn.session.token;
}
