// The actions of the session bar: log in, log out, use an existing token.
import { createClient } from '../api/client.ts';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { deviceToken, keepDeviceToken } from './device.ts';
import { SessionLogInDocument } from './operations/LogIn.generated.ts';
import { SessionLogOutDocument } from './operations/LogOut.generated.ts';
import { SessionViewerDocument } from './operations/Viewer.generated.ts';
import { beginSession, currentToken, endSession, leave, notify, type Session } from './store.ts';

export async function logIn(login: string, password: string): Promise<void> {
  notify(null);
  const opened = await openSession(login, password);
  if (typeof opened === 'string') notify(opened);
  else beginSession(opened);
}

// Returns a new session, or the message of the error.
export async function openSession(login: string, password: string): Promise<Session | string> {
  const input = { login, password, deviceToken: deviceToken(login) };
  const { data, error } = await createClient(null).mutation(SessionLogInDocument, { input }).toPromise();
  const begun = data?.logIn?.session;
  if (!begun) return messageOf(errorMessagesOf(error, data?.logIn));
  keepDeviceToken(login, begun.deviceToken);
  const { token, expiresAt, user } = begun;
  return { token, expiresAt, user };
}

export async function logOut(): Promise<void> {
  notify(null);
  const token = currentToken();
  if (!token) return;
  leave(token);
  const { data, error } = await createClient(token).mutation(SessionLogOutDocument, {}).toPromise();
  leave(null);
  if (data?.logOut?.endedSessionId) endSession(token, null);
  // If the session had ended before, the client has removed it already.
  else if (currentToken() === token) notify(messageOf(errorMessagesOf(error, data?.logOut)));
}

// Sends a query with the token first, for the name of the user, and to report a mistyped token at once.
export async function adoptToken(text: string): Promise<void> {
  notify(null);
  const token = text.trim().replace(/^Bearer\s+/i, '');
  if (!/^[\x21-\x7e]+$/.test(token)) return notify('This is not a token.');
  const { data, error } = await createClient(token).query(SessionViewerDocument, {}).toPromise();
  if (data?.viewer) beginSession({ token, user: data.viewer, expiresAt: null });
  else notify(messageOf(errorMessagesOf(error)) || 'The token names no session.');
}

// Checks whether the stored session is alive. The client removes it if not.
export async function checkSession(): Promise<void> {
  const token = currentToken();
  if (token) await createClient(token).query(SessionViewerDocument, {}).toPromise();
}
