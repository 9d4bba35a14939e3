// An OpenID Connect provider for one test. It can be stopped, and started again on the same port, with the same keys or new ones.
import assert from 'node:assert/strict';
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { freePort } from './server.mjs';

export const AUDIENCE = 'urn:waxwing';
export const CLIENT = 'app';
export const SUBJECT = 'provider|7';
const REDIRECT = 'https://app.example/callback';
const CLAIMS = { name: 'Ada Lovelace', preferred_username: 'Ada.Lovelace', email: 'ada@example.org', email_verified: true };

export class OpenIdProvider {
  static async start() {
    const provider = new OpenIdProvider();
    provider.port = await freePort();
    provider.issuer = `http://127.0.0.1:${provider.port}`;
    provider.generation = 0;
    // The algorithm of the next access token.
    provider.alg = 'RS256';
    provider.makeKeys();
    await provider.begin();
    return provider;
  }

  // The options of a server that accepts its access tokens, or others with another audience.
  options(audience = AUDIENCE) {
    return ['--jwt-issuer', this.issuer, '--jwt-audience', audience, '--jwt-jwks', `${this.issuer}/jwks`, '--jwt-provision', 'on'];
  }

  // Each key has another `kid` than those before.
  makeKeys() {
    this.generation += 1;
    const kinds = [['rsa', { modulusLength: 2048 }, 'RS256'], ['ec', { namedCurve: 'P-256' }, 'ES256'], ['ed25519', {}, 'EdDSA']];
    this.keys = kinds.map(([type, options, alg]) => {
      const { privateKey } = generateKeyPairSync(type, options);
      return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: `${alg} ${this.generation}` };
    });
  }

  async begin() {
    this.listener = createServer(this.handler());
    await new Promise((resolve, reject) => this.listener.once('error', reject).listen(this.port, '127.0.0.1', resolve));
  }

  async end() {
    const closed = new Promise((resolve) => this.listener.close(resolve));
    this.listener.closeAllConnections();
    await closed;
  }

  async restartWithNewKeys() {
    await this.end();
    this.makeKeys();
    await this.begin();
  }

  handler() {
    const resource = () => ({ scope: 'api', audience: AUDIENCE, accessTokenTTL: 300, accessTokenFormat: 'jwt', jwt: { sign: { alg: this.alg } } });
    const provider = new Provider(this.issuer, {
      jwks: { keys: this.keys },
      cookies: { keys: ['test'] },
      clients: [{ client_id: CLIENT, token_endpoint_auth_method: 'none', redirect_uris: [REDIRECT] }],
      claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email', 'email_verified'] },
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: { enabled: true, defaultResource: () => AUDIENCE, getResourceServerInfo: resource, useGrantedResource: () => true },
      },
      findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...CLAIMS }) }),
      extraTokenClaims: () => CLAIMS,
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      // Without a page for the consent.
      async loadExistingGrant({ oidc }) {
        const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid profile email');
        grant.addResourceScope(AUDIENCE, 'api');
        await grant.save();
        return grant;
      },
    });
    const callback = provider.callback();
    return (request, response) => {
      // A client must not reuse a connection after a restart.
      response.shouldKeepAlive = false;
      // Without a page for the log-in.
      if (request.url.startsWith('/interaction/')) return provider.interactionFinished(request, response, { login: { accountId: SUBJECT } });
      return callback(request, response);
    };
  }

  // Logs a user in, and returns the tokens of the response.
  async logIn() {
    const verifier = randomBytes(32).toString('base64url');
    const code = await this.authorize(createHash('sha256').update(verifier).digest('base64url'));
    const fields = { grant_type: 'authorization_code', client_id: CLIENT, code, code_verifier: verifier, redirect_uri: REDIRECT, resource: AUDIENCE };
    const response = await fetch(new URL('/token', this.issuer), { method: 'POST', body: new URLSearchParams(fields) });
    const tokens = await response.json();
    assert.equal(response.status, 200, JSON.stringify(tokens));
    return tokens;
  }

  // Follows the redirects of the provider as a browser does, up to the one to the app. Returns the code.
  async authorize(challenge) {
    const url = new URL('/auth', this.issuer);
    const scope = 'openid profile email api';
    const parameters = { client_id: CLIENT, response_type: 'code', scope, redirect_uri: REDIRECT, resource: AUDIENCE, state: 'x' };
    url.search = new URLSearchParams({ ...parameters, code_challenge: challenge, code_challenge_method: 'S256' });
    const cookies = new Map();
    let location = url;
    for (let hop = 0; hop < 10; hop += 1) {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(location, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
        cookies.set(name, value);
      }
      assert.ok(response.headers.get('location'), `${response.status}: ${await response.text()}`);
      location = new URL(response.headers.get('location'), location);
      if (location.href.startsWith(REDIRECT)) return location.searchParams.get('code');
    }
    throw new Error('too many redirects');
  }

  // Signs an access token with other claims than the provider issues, such as an `exp` in the past.
  sign(claims) {
    const key = this.keys.find(({ alg }) => alg === 'EdDSA');
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'EdDSA', kid: key.kid, typ: 'at+jwt' })}.${part({ iss: this.issuer, aud: AUDIENCE, sub: SUBJECT, ...CLAIMS, ...claims })}`;
    return `${signed}.${sign(null, Buffer.from(signed), createPrivateKey({ key, format: 'jwk' })).toString('base64url')}`;
  }
}

// The header and the claims of a token.
export const decode = (token) => token.split('.').slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
