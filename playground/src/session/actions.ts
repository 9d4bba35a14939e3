// The actions of the session: log in, log out, use an existing token, begin a session by other means.
import { createClient } from '../api/client.ts';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { deviceToken, keepDeviceToken } from './device.ts';
import type { NewSessionFragment } from './fragments/NewSession.generated.ts';
import { SessionLogInDocument } from './operations/LogIn.generated.ts';
import { SessionLogOutDocument } from './operations/LogOut.generated.ts';
import { SessionViewerDocument } from './operations/Viewer.generated.ts';
import { beginSession, currentToken, endSession, leave, notify, renameUser, type Session } from './store.ts';

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
  // The login may have been a mail address, or a former login.
  keepDeviceToken(login, begun.deviceToken);
  return keep(begun);
}

// Begins the session that a sign-up or a reset has created.
export function begin(begun: NewSessionFragment): void {
  beginSession(keep(begun));
}

function keep({ token, expiresAt, deviceToken, user }: NewSessionFragment): Session {
  keepDeviceToken(user.login, deviceToken);
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

// Checks whether the stored session is alive. The client removes it if not. Another device may have changed the login or the name.
export async function checkSession(): Promise<void> {
  const token = currentToken();
  if (!token) return;
  const { data } = await createClient(token).query(SessionViewerDocument, {}).toPromise();
  if (data?.viewer) renameUser(token, data.viewer);
}
