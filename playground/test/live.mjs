// Tests graphql-ws, graphql-sse and @apollo/client of npm with the server, also over a restart. Starts its own server on a fixed port: run it with
// `node --test` and WAXWING_BINARY set, as run.mjs does.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApolloClient, InMemoryCache, gql } from '@apollo/client/core';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient as createSocket } from 'graphql-ws';
import { createClient as createEvents } from 'graphql-sse';
import WebSocket from 'ws';
import { Server } from './server.mjs';

const QUIET = 'subscription { statusEvents(filter: { sample: { percent: 1 } }) { cursor } }';
const HOME = 'subscription { homeTimelineEvents { cursor } }';
const WHO = '{ viewer { login } }';

let server, token;

before(async () => {
  server = await Server.start();
  token = await server.logIn();
});

after(() => server?.remove());

const authorization = () => ({ authorization: `Bearer ${token}` });
const socket = (options) =>
  createSocket({ url: server.url.replace('http', 'ws'), webSocketImpl: WebSocket, connectionParams: authorization, ...options });
const events = (options) => createEvents({ url: server.url, headers: authorization, retry: soon, ...options });
// Without backoff: the server is back at once.
const soon = () => new Promise((resolve) => setTimeout(resolve, 200));

// Collects the results of an operation of either client until it completes.
async function all(client, query) {
  const results = [];
  for await (const result of client.iterate({ query })) results.push(result);
  return results;
}

// Starts a subscription and ends it.
function follow(client, query) {
  let stop;
  const ended = new Promise((resolve, reject) => {
    stop = client.subscribe({ query }, { next: () => {}, error: reject, complete: resolve });
  });
  return { stop, ended };
}

async function until(wanted, what) {
  for (let tries = 0; tries < 400; tries++) {
    if (await wanted()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`in vain: ${what}`);
}

const running = (transport, count) =>
  until(async () => (await server.gauge('live_subscriptions', transport)) === count, `${count} subscriptions over ${transport}`);

for (const [name, transport, make] of [
  ['graphql-ws', 'ws', socket],
  ['graphql-sse, distinct connections', 'sse', events],
  ['graphql-sse, single connection', 'sse', (options) => events({ singleConnection: true, ...options })],
]) {
  test(`${name}: a query, a mutation, an error`, async () => {
    const client = make();
    const [{ data }] = await all(client, WHO);
    assert.equal(data.viewer.login, server.login);
    const [posted] = await all(client, 'mutation { postStatus(input: { message: "by a client" }) { status { message } } }');
    assert.equal(posted.data.postStatus.status.message, 'by a client');
    await client.dispose();
  });

  test(`${name}: a subscription starts, ends, and continues after a restart of the server`, async () => {
    const client = make({ retryAttempts: 50, retryWait: soon, shouldRetry: () => true });
    const [first, second] = [follow(client, QUIET), follow(client, HOME)];
    await running(transport, 2);
    first.stop();
    await first.ended;
    await running(transport, 1);
    await server.restart();
    await running(transport, 1);
    assert.equal((await all(client, WHO))[0].data.viewer.login, server.login, 'the session outlives the server');
    second.stop();
    await second.ended;
    await running(transport, 0);
    await client.dispose();
  });
}

for (const [name, singleConnection] of [['distinct connections', false], ['single connection', true]]) {
  test(`graphql-sse, ${name}: a refused operation has its message, and the next one runs`, async () => {
    const client = events({ singleConnection, retryAttempts: 0 });
    const [result, ...rest] = await all(client, 'subscription { statusEvents(filter: { track: ["tea"] }) { nope } }');
    assert.equal(result.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    assert.match(result.errors[0].message, /nope/);
    assert.deepEqual(rest, []);
    assert.equal((await all(client, WHO))[0].data.viewer.login, server.login);
    await client.dispose();
  });
}

test('graphql-ws: an error arrives, and the next operation runs', async () => {
  const client = socket();
  await assert.rejects(all(client, '{ nope }'), (errors) => errors[0].extensions.code === 'GRAPHQL_VALIDATION_FAILED');
  assert.equal((await all(client, WHO))[0].data.viewer.login, server.login);
  await client.dispose();
});

test('graphql-ws: a token whose session has ended is closed with 4403', async () => {
  const client = socket({ connectionParams: { authorization: 'Bearer nobody' }, retryAttempts: 0 });
  await assert.rejects(all(client, WHO), (close) => close.code === 4403 && close.reason === 'Forbidden');
});

test('@apollo/client: a query and a subscription over a socket', async () => {
  const link = new GraphQLWsLink(socket());
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const { data } = await client.query({ query: gql(WHO) });
  assert.equal(data.viewer.login, server.login);
  const followed = client.subscribe({ query: gql(HOME) }).subscribe({});
  await running('ws', 1);
  followed.unsubscribe();
  await running('ws', 0);
  client.stop();
  await link.client.dispose();
});
