// Creates an idempotency key: a mutation that is sent again with its key is applied once. `crypto.randomUUID` exists only over HTTPS and on
// loopback.
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
