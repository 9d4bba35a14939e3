// A key that makes a change safe to send again. crypto.randomUUID is only there over HTTPS and on one's own machine.
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
