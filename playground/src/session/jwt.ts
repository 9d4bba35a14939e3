// JSON Web Tokens (JWT) of an identity provider, as access tokens. The server verifies them; the playground only reads when they expire.

// The token of a session has no dots.
export const isJwt = (token: string) => token.split('.').length === 3;

// The claim `exp`, or null if the token is no JWT, or none that can be read.
export function expiryOf(token: string): string | null {
  try {
    const [, payload = ''] = token.split('.');
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return typeof exp === 'number' ? new Date(exp * 1_000).toISOString() : null;
  } catch {
    return null;
  }
}

export function hasExpired(token: string): boolean {
  const expiresAt = expiryOf(token);
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}
