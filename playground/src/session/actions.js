// What a user can do about the session: log in, log out, bring a token along.
import { send } from '../send.js';
import { deviceToken, keepDeviceToken } from './device.js';
import { beginSession, currentToken, endSession, leave, notify } from './store.js';

const LOG_IN = `mutation LogIn($input: LogInInput!) {
  logIn(input: $input) { session { token expiresAt deviceToken user { id login name } } userErrors { message } }
}`;
const LOG_OUT = 'mutation LogOut { logOut { endedSessionId userErrors { message } } }';
const WHO_AM_I = 'query WhoAmI { viewer { id login name } }';

export async function logIn(login, password) {
  notify(null);
  const input = { login, password, deviceToken: deviceToken(login) };
  const answer = await send({ query: LOG_IN, operationName: 'LogIn', variables: { input } });
  if (!answer.data?.logIn?.session) return notify(complaint(answer, answer.data?.logIn));
  const { deviceToken: kept, ...session } = answer.data.logIn.session;
  keepDeviceToken(login, kept);
  beginSession(session);
}

export async function logOut() {
  notify(null);
  const token = currentToken();
  leave(token);
  const answer = await send({ query: LOG_OUT, operationName: 'LogOut' });
  leave(null);
  if (answer.data?.logOut?.endedSessionId) endSession(token, null);
  // A session that was dead already has been told about and forgotten by then.
  else if (currentToken()) notify(complaint(answer, answer.data?.logOut));
}

// Asks with the token first, so that a mistyped one is told at once and the bar can name its user.
export async function adoptToken(text) {
  notify(null);
  const token = text.trim().replace(/^Bearer\s+/i, '');
  if (!/^[\x21-\x7e]+$/.test(token)) return notify('This is not a token.');
  const answer = await send({ query: WHO_AM_I, operationName: 'WhoAmI' }, { Authorization: `Bearer ${token}` });
  const user = answer.data?.viewer;
  if (user) beginSession({ token, user, expiresAt: null });
  else notify(complaint(answer));
}

// Looks whether a session from before the reload still lives; send() forgets it if not.
export async function checkSession() {
  if (currentToken()) await send({ query: WHO_AM_I, operationName: 'WhoAmI' });
}

function complaint(answer, payload) {
  const rows = [...(payload?.userErrors ?? []), ...(answer.errors ?? [])];
  return rows.map((row) => row.message).join(' ') || 'The server gave no session.';
}
