// A backend that has its users already: `POST /session` returns a session of Waxwing for the person who is logged in here.
import { createServer } from 'node:http';
import { waxwing } from './waxwing.js';

const PROVISION = 'mutation ($input: ProvisionUserInput!) { provisionUser(input: $input) { user { id } userErrors { code message } } }';
const ISSUE = 'mutation ($input: IssueSessionInput!) { issueSession(input: $input) { session { token expiresAt } userErrors { code message } } }';

// Your own log-in, by a cookie for example. The id must never change.
const loggedIn = (request) => ({ id: '4711', name: 'Grace Hopper', device: request.headers['user-agent'] });

async function sessionOf({ id, name, device }) {
  await waxwing(PROVISION, { externalId: id, name });
  const { session } = await waxwing(ISSUE, { externalId: id, ttlSeconds: 3600, userAgent: device });
  return session;
}

createServer(async (request, response) => {
  if (request.method !== 'POST' || request.url !== '/session') return response.writeHead(404).end();
  const session = await sessionOf(loggedIn(request)).catch((reason) => console.error(reason.message));
  response.writeHead(session ? 200 : 502, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(session ?? {}));
}).listen(process.env.PORT ?? 3000, '127.0.0.1', () => console.log('listening'));
