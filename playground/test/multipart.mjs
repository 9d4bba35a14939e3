// Tests Apollo Client's HttpLink with the server: subscriptions as multipart responses, without a WebSocket and without another package.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ApolloClient, CombinedGraphQLErrors, CombinedProtocolErrors, HttpLink, InMemoryCache, gql } from '@apollo/client/core';
import { Redis } from './redis.mjs';
import { Server } from './server.mjs';

const STATUSES = gql`
  subscription Statuses($after: String) {
    statusEvents(filter: { follow: ["apollo"] }, after: $after) {
      cursor
      ... on StatusPosted { status { message } }
    }
  }
`;
const SIGN_UP = `mutation { signUp(input: { login: "apollo", name: "Apollo", password: "correct horse" }) { session { token } } }`;
const POST = 'mutation ($message: String!) { postStatus(input: { message: $message }) { status { id } } }';
const LOG_OUT = 'mutation { logOut { endedSessionId } }';

// Two servers on one Redis: one can be killed while the other accepts posts.
let redis, streaming, posting, token;

before(async () => {
  redis = await Redis.start();
  posting = await Server.start({ redis });
  streaming = await Server.start({ redis });
  token = (await posting.ask(null, SIGN_UP)).signUp.session.token;
});

after(async () => {
  await streaming?.remove();
  await posting?.remove();
  await redis?.remove();
});

const clientOf = (server, headers) =>
  new ApolloClient({ link: new HttpLink({ uri: server.url, headers }), cache: new InMemoryCache() });
const signedIn = (token) => ({ authorization: `Bearer ${token}` });
const syncCursor = async () => (await posting.ask(null, '{ statusEventsSyncCursor }')).statusEventsSyncCursor;
const soon = () => new Promise((resolve) => setTimeout(resolve, 100));

async function until(isTrue, what) {
  for (let tries = 0; tries < 400; tries++) {
    if (await isTrue()) return;
    await soon();
  }
  assert.fail(`in vain: ${what}`);
}

// Subscribes once. Settles when the stream ends, with the error that ended it, if any.
function subscribeOnce(client, variables, onEvent) {
  let subscription;
  const ended = new Promise((resolve) => {
    subscription = client.subscribe({ query: STATUSES, variables, fetchPolicy: 'no-cache' }).subscribe({
      next: ({ data, error }) => (error ? resolve(error) : onEvent(data.statusEvents)),
      error: resolve,
      complete: resolve,
    });
  });
  return { ended, stop: () => subscription.unsubscribe() };
}

// Follows the statuses after a cursor, and reconnects when a connection ends. An app needs no more than this to resume.
function followFrom(client, cursor, onEvent) {
  const lostBy = [];
  let current;
  let isStopped = false;
  (async () => {
    while (!isStopped) {
      current = subscribeOnce(client, { after: cursor }, (event) => {
        cursor = event.cursor;
        onEvent(event);
      });
      lostBy.push(await current.ended);
      await soon();
    }
  })();
  return {
    lostBy,
    stop() {
      isStopped = true;
      current.stop();
    },
  };
}

test('queries, mutations and errors work as without subscriptions', async () => {
  const client = clientOf(streaming, signedIn(token));
  const { data } = await client.query({ query: gql`{ viewer { login } }` });
  assert.equal(data.viewer.login, 'apollo');
  const posted = await client.mutate({ mutation: gql(POST), variables: { message: 'by Apollo' } });
  assert.ok(posted.data.postStatus.status.id);
  client.stop();
});

test('a subscription brings events, and ends at the server when the client leaves', async () => {
  const client = clientOf(streaming);
  const messages = [];
  const { stop } = subscribeOnce(client, { after: await syncCursor() }, ({ status }) => messages.push(status.message));
  await posting.ask(token, POST, { message: 'live' });
  await until(() => messages.length > 0, 'an event');
  assert.deepEqual(messages, ['live']);
  stop();
  await until(async () => (await streaming.gauge('live_subscriptions', 'multipart')) === 0, 'the end of the subscription');
  client.stop();
});

test('a server that is killed loses no event and repeats none', async () => {
  const client = clientOf(streaming);
  const messages = [];
  const { lostBy, stop } = followFrom(client, await syncCursor(), ({ status }) => messages.push(status.message));
  const expected = [];
  const post = async (message) => {
    expected.push(message);
    await posting.ask(token, POST, { message });
  };
  for (let number = 0; number < 60; number++) {
    await post(`message ${number}`);
    if (number % 20 !== 10) continue;
    await until(() => messages.length > number, 'what was posted before the server is killed');
    await streaming.end('SIGKILL');
    await post(`while it was down, after ${number}`);
    await streaming.begin();
  }
  await until(() => messages.length >= expected.length, `${expected.length} events`);
  assert.deepEqual(messages, expected);
  assert.ok(lostBy.length >= 3 && lostBy.every(Boolean), 'each kill is an error, never an end as if all were said');
  stop();
  client.stop();
});

test('a refused operation has its message and its code', async () => {
  const client = clientOf(streaming);
  const invalid = gql`subscription { statusEvents(filter: { follow: ["apollo"] }) { nope } }`;
  const refusal = await new Promise((resolve) => {
    client.subscribe({ query: invalid }).subscribe({ next: ({ error }) => resolve(error), error: resolve });
  });
  assert.ok(CombinedGraphQLErrors.is(refusal), String(refusal));
  assert.equal(refusal.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
  assert.match(refusal.message, /nope/);
  const forged = await subscribeOnce(client, { after: 'forged' }, () => {}).ended;
  assert.ok(CombinedGraphQLErrors.is(forged), String(forged));
  assert.equal(forged.errors[0].extensions.code, 'BAD_USER_INPUT');
  const stranger = await subscribeOnce(clientOf(streaming, signedIn('nobody')), {}, () => {}).ended;
  assert.equal(stranger.errors?.[0].extensions.code, 'UNAUTHENTICATED', String(stranger));
  client.stop();
});

test('the end of a session and the stop of a server have an error with the reason', async () => {
  const other = await posting.logIn();
  const ended = subscribeOnce(clientOf(streaming, signedIn(other)), {}, () => {}).ended;
  await until(async () => (await streaming.gauge('live_subscriptions', 'multipart')) === 1, 'a subscription');
  await posting.ask(other, LOG_OUT);
  const loggedOut = await ended;
  assert.ok(CombinedProtocolErrors.is(loggedOut), String(loggedOut));
  assert.equal(loggedOut.errors[0].extensions.code, 'UNAUTHENTICATED');
  const goingAway = subscribeOnce(clientOf(streaming), {}, () => {}).ended;
  await until(async () => (await streaming.gauge('live_subscriptions', 'multipart')) === 1, 'a subscription');
  await streaming.restart();
  const { errors } = await goingAway;
  assert.equal(errors[0].extensions.code, 'GOING_AWAY');
  assert.ok(errors[0].extensions.retryAfter >= 1);
});
