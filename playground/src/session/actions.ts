// The actions of the session: log in, log out, use an existing access token, begin a session by other means.
import type { CombinedError, OperationResult } from 'urql';
import { createClient, isEnded, NOT_PROVISIONED } from '../api/client.ts';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { deviceToken, keepDeviceToken } from './device.ts';
import type { NewSessionFragment } from './fragments/NewSession.generated.ts';
import { expiryOf, hasExpired, isJwt } from './jwt.ts';
import { SessionLogInDocument } from './operations/LogIn.generated.ts';
import { SessionLogOutDocument, type SessionLogOutMutation } from './operations/LogOut.generated.ts';
import { SessionViewerDocument } from './operations/Viewer.generated.ts';
import { runLogOut } from './requests.ts';
import { beginSession, currentToken, endSession, markLoggingOut, notify, renameUser, type Session, type Token } from './store.ts';

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

// A JWT is only forgotten: it stays valid until it expires, and the server refuses to log it out.
export async function logOut(): Promise<void> {
  notify(null);
  const token = currentToken();
  if (!token) return;
  if (isJwt(token)) return endSession(token, null);
  markLoggingOut(token);
  const { data, error } = await sendLogOut(token);
  markLoggingOut(null);
  if (data?.logOut?.endedSessionId) endSession(token, null);
  // If the session had ended before, the client has removed it already.
  else if (currentToken() === token) notify(messageOf(errorMessagesOf(error, data?.logOut)));
}

// Ends the session of a token once its other requests have their responses.
export function sendLogOut(token: Token, onEnded?: (token: Token) => void): Promise<OperationResult<SessionLogOutMutation>> {
  const client = createClient(token, { onEnded, isLogOut: true });
  return runLogOut(
    token,
    () => client.mutation(SessionLogOutDocument, {}).toPromise(),
    ({ data, error }) => Boolean(data?.logOut?.endedSessionId) || (error !== undefined && isEnded(error)),
  );
}

// Uses the token of a session, or a JWT. Sends a query with it first, for the name of the user, and to report a refused token at once. Returns the message of
// the error, or null.
export async function adoptToken(text: string): Promise<string | null> {
  notify(null);
  const token = text.trim().replace(/^Bearer\s+/i, '');
  if (!/^[\x21-\x7e]+$/.test(token)) return 'This is not an access token.';
  const { data, error } = await createClient(token).query(SessionViewerDocument, {}).toPromise();
  if (!data?.viewer) return refusalOf(token, error);
  beginSession({ token, user: data.viewer, expiresAt: expiryOf(token) });
  return null;
}

function refusalOf(token: string, error: CombinedError | undefined): string {
  if (!error) return 'No account belongs to this token.';
  if (!isEnded(error)) return messageOf(errorMessagesOf(error));
  if (error.graphQLErrors[0]?.extensions.code === NOT_PROVISIONED) return 'The token is valid, but no account of this server belongs to its `sub` and issuer.';
  if (!isJwt(token)) return 'The token belongs to no session, or its session has ended.';
  if (hasExpired(token)) return 'The token has expired. Get a new one from the identity provider.';
  return 'The server refuses this JWT. Check its issuer, its audience and its key against the options `--jwt-…` of the server.';
}

// Checks whether the token of the stored session is still accepted. The client removes the session if not. Another device may have changed the login or the name.
export async function checkSession(): Promise<void> {
  const token = currentToken();
  if (!token) return;
  const { data } = await createClient(token).query(SessionViewerDocument, {}).toPromise();
  if (data?.viewer) renameUser(token, data.viewer);
}
