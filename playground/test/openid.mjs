// Tokens of an OpenID Connect provider: a user logs in there, and the token is accepted here, also after a rotation of the keys and while the provider is down.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CLIENT, decode, OpenIdProvider, SUBJECT } from './provider.mjs';
import { Redis } from './redis.mjs';
import { Server } from './server.mjs';

const VIEWER = '{ viewer { login name } viewerAccount { email hasPassword identities { issuer subject } } }';

let provider, server;

before(async () => {
  provider = await OpenIdProvider.start();
  server = await Server.start({ demo: false, options: provider.options() });
});

after(async () => {
  await server?.remove();
  await provider?.end();
});

test('access tokens of every algorithm are accepted, and belong to one account', async () => {
  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    provider.alg = alg;
    const { access_token: token } = await provider.logIn();
    const [header] = decode(token);
    assert.equal(header.alg, alg);
    const { viewer, viewerAccount } = await server.ask(token, VIEWER);
    assert.deepEqual(viewer, { login: 'AdaLovelace', name: 'Ada Lovelace' });
    const identities = [{ issuer: provider.issuer, subject: SUBJECT }];
    assert.deepEqual(viewerAccount, { email: 'ada@example.org', hasPassword: false, identities });
  }
});

test('an ID token is for the app, and no access token', async () => {
  const { id_token: token } = await provider.logIn();
  assert.equal(await statusOf(server, token), 401);
});

test('an ID token is accepted where the audience is the id of the app, and an access token is not', async () => {
  const { id_token: token, access_token: accessToken } = await provider.logIn();
  const [, { aud, nbf }] = decode(token);
  assert.deepEqual([aud, nbf], [CLIENT, undefined]);
  const other = await Server.start({ demo: false, options: provider.options(CLIENT) });
  try {
    const { viewerAccount } = await other.ask(token, VIEWER);
    assert.deepEqual(viewerAccount.identities, [{ issuer: provider.issuer, subject: SUBJECT }]);
    assert.equal(await statusOf(other, accessToken), 401);
  } finally {
    await other.remove();
  }
});

test('a token of a new key is accepted at once, one of a removed key is refused then, and an unknown key causes one fetch a minute', async () => {
  const { access_token: before } = await provider.logIn();
  assert.equal(await statusOf(server, before), 200);
  const fetches = await countFetches(server);
  await provider.restartWithNewKeys();
  const { access_token: next } = await provider.logIn();
  assert.equal(await statusOf(server, before), 200, 'the set before is in use until a token of another key comes');
  assert.equal(await statusOf(server, next), 200);
  assert.equal(await statusOf(server, before), 401);
  assert.equal(await countFetches(server), fetches + 1);
  await provider.restartWithNewKeys();
  const { access_token: last } = await provider.logIn();
  assert.equal(await statusOf(server, last), 401);
  assert.equal(await statusOf(server, next), 200);
  assert.equal(await countFetches(server), fetches + 1);
  await server.restart();
  assert.equal(await statusOf(server, last), 200);
  assert.equal(await statusOf(server, next), 401);
});

test('while the provider is down, its tokens are accepted, also by a server that starts meanwhile', async () => {
  const redis = await Redis.start();
  const servers = [];
  let isUp = true;
  try {
    servers.push(await Server.start({ redis, demo: false, options: provider.options() }));
    const { access_token: token } = await provider.logIn();
    const { viewer } = await servers[0].ask(token, VIEWER);
    await provider.end();
    isUp = false;
    assert.deepEqual((await servers[0].ask(token, VIEWER)).viewer, viewer);
    servers.push(await Server.start({ redis, demo: false, options: provider.options() }));
    await servers[0].restart();
    for (const server of servers) {
      assert.deepEqual((await server.ask(token, VIEWER)).viewer, viewer);
      // Of the same key, and not seen before.
      const seconds = Math.floor(Date.now() / 1_000);
      assert.equal(await statusOf(server, provider.sign({ iat: seconds, exp: seconds + 60, jti: server.url })), 200);
    }
    provider.makeKeys();
    const seconds = Math.floor(Date.now() / 1_000);
    assert.equal(await statusOf(servers[1], provider.sign({ iat: seconds, exp: seconds + 60 })), 401, 'a key that was never fetched');
  } finally {
    for (const server of servers) await server.remove();
    await redis.remove();
    if (!isUp) await provider.begin();
  }
});

// The status of a response to a token.
async function statusOf({ url }, token) {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: VIEWER }) });
  await response.text();
  return response.status;
}

async function countFetches({ origin }) {
  const text = await (await fetch(new URL('/metrics', origin))).text();
  const counts = [...text.matchAll(/^waxwing_jwt_key_fetches_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
