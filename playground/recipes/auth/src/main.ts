// Logs in, ends the session from another device, and shows the responses to a request and a socket.
import { openSocket } from 'waxwing-recipe-resume';
import WebSocket from 'ws';
import { send } from './send.js';
import { beginSession, currentToken, endSession, onSessionChange } from './session.js';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

const HOME = '{ homeTimeline { syncCursor } }';
const LOG_IN = `
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { session { token deviceToken } userErrors { code message path } }
  }`;
const END_OTHERS = 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds } }';

// A page keeps it in localStorage, by login.
let deviceToken: string | undefined;

// Without a session the field is null with the code UNAUTHENTICATED, and other fields have their values.
const nobody = await send(url, HOME);
console.log('without a session:', nobody.data.homeTimeline, nobody.errors?.[0]?.extensions?.code);

// A wrong password is an entry of userErrors, for the form, and no error of the request.
console.log('wrong password:', (await logIn('wrong')).userErrors[0].code);

const { session } = await logIn(password);
// It is valid beyond the session and is sent with the next log-in, which failed log-ins of other devices then do not block.
deviceToken = session.deviceToken;
beginSession(session.token);
console.log('logged in:', Boolean((await send(url, HOME)).data.homeTimeline));

onSessionChange((token) => console.log('session:', token ? 'begun' : 'ended, ask for a log-in'));

// Another device ends the session during a subscription: the socket is closed with 4403.
const socket = openSocket({ url, token: session.token, onEnded: endSession, webSocketImpl: WebSocket });
const closed = new Promise<void>((resolve) => {
  socket.on('connected', () => {
    console.log('socket: connected');
    void endFromAnotherDevice();
  });
  socket.subscribe({ query: 'subscription { homeTimelineEvents { cursor } }' }, { next() {}, error: () => resolve(), complete: resolve });
});
await closed;
console.log('token after the socket was closed:', currentToken());

// A request with the same token is refused.
beginSession(session.token);
const { errors } = await send(url, HOME);
console.log('request with the ended token:', errors?.[0]?.extensions?.code);
console.log('token after the response:', currentToken());

async function logIn(password: string) {
  const { data } = await send(url, LOG_IN, { input: { login, password, deviceToken } });
  return data.logIn;
}

async function endFromAnotherDevice() {
  const { session: other } = await logIn(password);
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${other.token}` };
  await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: END_OTHERS }) });
}
