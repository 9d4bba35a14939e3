// An idempotency key: with the same key a mutation can be sent again without happening twice. `crypto.randomUUID` exists only over HTTPS and on
// loopback.
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
