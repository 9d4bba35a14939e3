// Decides what follows the end of a connection or a request: reconnect, log in again, or stop with an error.

// Close codes for a session that is unknown or has ended, or for a missing token.
const LOG_IN_AGAIN = [4401, 4403];
// Close codes that a reconnect would get again: a message that is too long or invalid, another subprotocol, a duplicate id, too many sockets or
// messages.
const FINAL = [1009, 4400, 4406, 4409, 4429];
// Codes of temporary errors. All others are final.
const TEMPORARY = ['UNREAD_RESPONSES', 'STORAGE_UNAVAILABLE', 'OVERLOADED', 'RATE_LIMITED', 'DEADLINE_EXCEEDED', 'INTERNAL_SERVER_ERROR'];

// `end` is a close event, an array of GraphQL errors, or any other error. Returns { seconds } to reconnect, with null unless the server named a wait; or
// the final phase.
export function decideReconnect(end) {
  if (Array.isArray(end)) return ofErrors(end);
  const { code, reason } = end ?? {};
  if (LOG_IN_AGAIN.includes(code)) return { phase: 'login' };
  if (FINAL.includes(code)) return { phase: 'refused', code, message: `The server closed the socket: ${reason} (${code}).` };
  // A server that stops gives each client another wait: "Going away, retry in 7 s".
  const hint = code === 1001 && /retry in (\d+) s/.exec(reason);
  return { seconds: hint ? Number(hint[1]) : null };
}

function ofErrors([{ message, extensions }]) {
  const code = extensions?.code;
  if (code === 'UNAUTHENTICATED') return { phase: 'login' };
  // An error without a code comes from the network or a proxy.
  if (code && !TEMPORARY.includes(code)) return { phase: 'refused', code, message };
  return { seconds: extensions?.retryAfter ?? null };
}
