// Access tokens of an OpenID Connect provider: a user logs in there, and the token is accepted here.
import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import Provider from 'oidc-provider';
import { freePort, Server } from './server.mjs';

const AUDIENCE = 'urn:waxwing';
const REDIRECT = 'https://app.example/callback';
const SUBJECT = 'provider|7';
const CLAIMS = { name: 'Ada Lovelace', preferred_username: 'Ada.Lovelace', email: 'ada@example.org', email_verified: true };
const VIEWER = '{ viewer { login name } viewerAccount { email hasPassword identities { issuer subject } } }';

let issuer, listener, server;
// The algorithm of the next access token.
let alg = 'RS256';

function jwk(type, options, algorithm) {
  const { privateKey } = generateKeyPairSync(type, options);
  return { ...privateKey.export({ format: 'jwk' }), alg: algorithm, use: 'sig', kid: algorithm };
}

function provide() {
  const keys = [jwk('rsa', { modulusLength: 2048 }, 'RS256'), jwk('ec', { namedCurve: 'P-256' }, 'ES256'), jwk('ed25519', {}, 'EdDSA')];
  const resource = () => ({ scope: 'api', audience: AUDIENCE, accessTokenTTL: 300, accessTokenFormat: 'jwt', jwt: { sign: { alg } } });
  const provider = new Provider(issuer, {
    jwks: { keys },
    cookies: { keys: ['test'] },
    clients: [{ client_id: 'app', token_endpoint_auth_method: 'none', redirect_uris: [REDIRECT] }],
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
  return createServer((request, response) => {
    // Without a page for the log-in.
    if (request.url.startsWith('/interaction/')) return provider.interactionFinished(request, response, { login: { accountId: SUBJECT } });
    return callback(request, response);
  });
}

// Follows the redirects of the provider as a browser does, up to the one to the app. Returns the code.
async function authorize(challenge) {
  const url = new URL('/auth', issuer);
  const scope = 'openid profile email api';
  const parameters = { client_id: 'app', response_type: 'code', scope, redirect_uri: REDIRECT, resource: AUDIENCE, state: 'x' };
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

async function logIn() {
  const verifier = randomBytes(32).toString('base64url');
  const code = await authorize(createHash('sha256').update(verifier).digest('base64url'));
  const fields = { grant_type: 'authorization_code', client_id: 'app', code, code_verifier: verifier, redirect_uri: REDIRECT, resource: AUDIENCE };
  const response = await fetch(new URL('/token', issuer), { method: 'POST', body: new URLSearchParams(fields) });
  const tokens = await response.json();
  assert.equal(response.status, 200, JSON.stringify(tokens));
  return tokens;
}

before(async () => {
  const port = await freePort();
  issuer = `http://127.0.0.1:${port}`;
  listener = provide().listen(port, '127.0.0.1');
  const options = ['--jwt-issuer', issuer, '--jwt-audience', AUDIENCE, '--jwt-jwks', `${issuer}/jwks`, '--jwt-provision', 'on'];
  server = await Server.start({ demo: false, options });
});

after(async () => {
  await server?.remove();
  listener?.closeAllConnections();
  listener?.close();
});

test('access tokens of every algorithm are accepted, and belong to one account', async () => {
  for (alg of ['RS256', 'ES256', 'EdDSA']) {
    const { access_token: token } = await logIn();
    const [header] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    assert.equal(JSON.parse(header).alg, alg);
    const { viewer, viewerAccount } = await server.ask(token, VIEWER);
    assert.deepEqual(viewer, { login: 'AdaLovelace', name: 'Ada Lovelace' });
    const identities = [{ issuer, subject: SUBJECT }];
    assert.deepEqual(viewerAccount, { email: 'ada@example.org', hasPassword: false, identities });
  }
});

test('an ID token is for the app, and no access token', async () => {
  const { id_token: token } = await logIn();
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const response = await fetch(server.url, { method: 'POST', headers, body: JSON.stringify({ query: VIEWER }) });
  assert.equal(response.status, 401);
});
