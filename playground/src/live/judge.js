// What the end of a connection, or of a request, asks of a client: to come back, to log in again, or to stop and say why.

// Codes with which the server closes a socket: the token names no live session (any more), or none was given where one is needed.
const LOG_IN_AGAIN = [4401, 4403];
// Codes after which coming back would end the same way: a message that is too long or none of the protocol, another sub-protocol, an id
// twice, too many sockets or messages.
const FINAL = [1009, 4400, 4406, 4409, 4429];
// Codes of errors that pass. Every other one is told.
const PASSING = ['UNREAD_ANSWERS', 'STORAGE_UNAVAILABLE', 'OVERLOADED', 'RATE_LIMITED', 'DEADLINE_EXCEEDED', 'INTERNAL_SERVER_ERROR'];

// `end` is a close event, an array of GraphQL errors, or whatever else went wrong. Answers { seconds } to come back after, when the server
// named them; or the phase in which it ends.
export function judge(end) {
  if (Array.isArray(end)) return ofErrors(end);
  const { code, reason } = end ?? {};
  if (LOG_IN_AGAIN.includes(code)) return { phase: 'login' };
  if (FINAL.includes(code)) return { phase: 'refused', code, message: `The server closed the socket: ${reason} (${code}).` };
  // A server that stops spreads those who come back: "Going away, retry in 7 s".
  const hint = code === 1001 && /retry in (\d+) s/.exec(reason);
  return { seconds: hint ? Number(hint[1]) : null };
}

function ofErrors([{ message, extensions }]) {
  const code = extensions?.code;
  if (code === 'UNAUTHENTICATED') return { phase: 'login' };
  // An answer without a code is none of the server's: the network, or a proxy.
  if (code && !PASSING.includes(code)) return { phase: 'refused', code, message };
  return { seconds: extensions?.retryAfter ?? null };
}
