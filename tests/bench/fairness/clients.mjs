// Twenty typical clients: each reads its home twenty times a second, now and then over a new connection or with a long body, posts, logs
// in, and subscribes to the posts of all of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { post, socket, subscribe } from './http.mjs';

const HOME = `{ viewer { id login followersCount } homeTimeline { entries(first: 30) { edges { cursor node { status {
  id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount } } } } pageInfo { hasNextPage endCursor } } } }`;
const POST = 'mutation($m: String!) { postStatus(input: { message: $m }) { status { id } userErrors { message } } }';
const LISTEN = 'subscription($f: StatusFilter!) { statusEvents(filter: $f) { ... on StatusPosted { status { message } } ... on StreamGap { reason } } }';
const SIGN_UP = 'mutation($i: SignUpInput!) { signUp(input: $i) { session { token } userErrors { message } } }';
const LOG_IN = 'mutation($i: LogInInput!) { logIn(input: $i) { session { token } userErrors { message } } }';
const PASSWORD = 'a long enough password';
// Longer than the part of a body that needs no reservation.
const PADDING = 'x'.repeat(20_000);
// The interval between two reads of a client's home, in milliseconds.
const INTERVAL = 50;

// Adds the duration of a response, and the durations of the requests that were due while the client waited: a client sends one request
// instead of twenty to a server that does not respond for a second.
function record(all, took) {
  for (let rest = took; rest > 0; rest -= INTERVAL) all.push(rest);
}

export class Clients {
  // Each client posts once in this many reads: the limit of posts is over three hours, and a long run must not use it up.
  constructor(server, postEvery) {
    Object.assign(this, { server, postEvery });
    this.all = server.tokens.map((token, at) => ({ port: server.port, token, from: `127.0.1.${at + 1}`, received: new Set(), turn: 0 }));
    this.run = 0;
  }

  // Opens a socket for each client, and creates an account: the victim of the attack on passwords.
  async listen() {
    for (const client of this.all) {
      const opened = await socket(client, (message) => client.received.add(message.payload?.data?.statusEvents?.status?.message ?? JSON.stringify(message)));
      subscribe(opened, 1, LISTEN, { f: { track: ['fairness'] } });
    }
    const { port, from } = this.all[0];
    await post({ port, from }, { query: SIGN_UP, variables: { i: { login: 'victim', name: 'Victim', password: PASSWORD } } });
    await sleep(500);
  }

  begin() {
    const seen = { took: [], errors: [], posted: [], changes: [], runs: true };
    this.seen = seen;
    this.work = Promise.all(this.all.map((client, at) => this.live(client, at, seen)));
  }

  async end() {
    this.seen.runs = false;
    await this.work;
    await Promise.all(this.seen.changes);
    const { took, errors, posted } = this.seen;
    const isComplete = () => this.all.every((client) => posted.every((message) => client.received.has(message)));
    for (let tries = 0; tries < 100 && !isComplete(); tries += 1) await sleep(50);
    const missed = this.all.reduce((sum, client) => sum + posted.filter((message) => !client.received.has(message)).length, 0);
    this.all.forEach((client) => client.received.clear());
    return { took, errors, missed };
  }

  async live(client, at, seen) {
    await sleep(Math.random() * INTERVAL);
    for (; seen.runs; client.turn += 1) {
      const [began, turn] = [performance.now(), client.turn];
      // In parallel to the reads, which do not wait for either.
      if (turn % this.postEvery === 2 * at) seen.changes.push(this.post(client, seen));
      if (at === 0 && turn % 20 === 10) seen.changes.push(this.logIn(client, seen));
      const response = await this.ask(client, { query: HOME, ...(turn % 10 === 5 && { extensions: { padding: PADDING } }) }, seen, turn % 10 === 0);
      if (response) record(seen.took, response.took);
      await sleep(Math.max(0, INTERVAL - (performance.now() - began)));
    }
  }

  async ask(client, operation, seen, isNew = false) {
    const response = await post(client, operation, isNew).catch((error) => ({ text: String(error), body: {} }));
    if (response.status === 200 && !response.body.errors) return response;
    seen.errors.push(`${response.status}: ${response.text}`);
    return undefined;
  }

  async post(client, seen) {
    this.run += 1;
    const message = `fairness ${this.run}`;
    const response = await this.ask(client, { query: POST, variables: { m: message } }, seen);
    if (response?.body.data.postStatus.status) seen.posted.push(message);
    else if (response) seen.errors.push(response.text);
  }

  async logIn({ port, from }, seen) {
    const response = await this.ask({ port, from }, { query: LOG_IN, variables: { i: { login: 'victim', password: PASSWORD } } }, seen);
    if (response && !response.body.data.logIn.session) seen.errors.push(response.text);
  }
}
