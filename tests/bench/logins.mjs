// The effect of a flood of log-ins on reads, and whether the time of a refusal reveals that a login exists.
//   node tests/bench/logins.mjs PATH_TO_WAXWING [--seconds 10] [--rounds 3] [--logins 200] [--reads 200] [--runs 200]
// Requests are sent at a steady rate, whether the previous ones have their responses or not. Rounds with and without log-ins alternate, so
// that the other load of the machine affects both. The exit code is 1 when the 99th percentile of reads more than doubles, or when the
// medians of the two refusals differ by more than 10 %. Results are meaningful only for a release build on a quiet machine.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bed, binary, option, quantile } from './support.mjs';

const [seconds, rounds, logins] = [option('seconds', 10), option('rounds', 3), option('logins', 200)];
const [reads, runs] = [option('reads', 200), option('runs', 200)];

const bed = new Bed();
// The benchmark measures the queue of password hashes, not the rate limits.
const env = { WAXWING_LOG: 'warn', WAXWING_RATE_LIMITS: 'off' };
const server = bed.start(binary, ['serve', '--demo', '--listen', '127.0.0.1:0', '--data-dir', bed.path('data')], { stdout: 'pipe', env });

async function announced() {
  const output = {};
  for await (const line of createInterface({ input: server.stdout })) {
    output.url ??= line.match(/API\s+(http:\S+)/)?.[1];
    const login = line.match(/Log in as\s+(\S+) with the password (\S+)/);
    if (login) return { ...output, login: login[1], password: login[2] };
  }
  throw new Error('the server ended before it was ready');
}

const agent = new Agent({ keepAlive: true, maxSockets: 1024 });
const send = (url, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const asked = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ took: performance.now() - began, body: JSON.parse(Buffer.concat(parts)) }));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });

// Sends at a steady rate until the time is over. Resolves when all responses have arrived.
async function steadily(rate, sending) {
  const all = [];
  const began = performance.now();
  for (let sent = 0; sent < rate * seconds; sent += 1) {
    const wait = began + (sent * 1000) / rate - performance.now();
    if (wait > 0) await sleep(wait);
    all.push(sending(sent));
  }
  return Promise.all(all);
}

const ms = (number) => `${number.toFixed(2)} ms`;
const LOG_IN = 'mutation($login: String!, $password: String!) { logIn(input: { login: $login, password: $password }) { session { token } userErrors { code } } }';

let missed = false;
try {
  const { url, login, password } = await announced();
  const logIn = (name, secret) => send(url, { query: LOG_IN, variables: { login: name, password: secret } });
  const first = await logIn(login, password);
  const authorization = `Bearer ${first.body.data.logIn.session.token}`;
  // Other accounts log in: an account with too many sessions loses its oldest ones, and the readers must keep theirs.
  const others = await send(url, { query: `{ user(login: "${login}") { following(first: 100) { edges { node { login } } } } }` });
  const crowd = others.body.data.user.following.edges.map((edge) => edge.node.login);
  const query = readFileSync(new URL('../../playground/operations/Home.graphql', import.meta.url), 'utf8');
  const read = async () => {
    const { took, body } = await send(url, { query, operationName: 'Home', variables: { first: 30 } }, { authorization });
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return took;
  };

  const medians = { unknown: [], wrong: [] };
  for (let run = 0; run < runs + 10; run += 1) {
    // Alternating, and in both orders.
    for (const kind of run % 2 ? ['unknown', 'wrong'] : ['wrong', 'unknown']) {
      const { took, body } = await logIn(kind === 'wrong' ? login : 'nobody_here', 'battery staple');
      if (body.data?.logIn?.userErrors?.[0]?.code !== 'WRONG_CREDENTIALS') throw new Error(JSON.stringify(body));
      if (run >= 10) medians[kind].push(took);
    }
  }
  const [unknown, wrong] = [quantile(medians.unknown, 0.5), quantile(medians.wrong, 0.5)];
  const apart = (unknown / wrong - 1) * 100;
  console.log(`refusals      unknown login ${ms(unknown)}, wrong password ${ms(wrong)}: ${apart.toFixed(1)} % apart (medians of ${runs})`);
  missed ||= !(Math.abs(apart) <= 10);

  await steadily(reads, read);
  const took = { alone: [], beside: [], done: [], refused: [] };
  for (let round = 0; round < rounds; round += 1) {
    took.alone.push(...(await steadily(reads, read)));
    const flood = steadily(logins, async (number) => {
      const { took: spent, body } = await logIn(crowd[number % crowd.length], password);
      const code = body.errors?.[0]?.extensions?.code;
      if (code && code !== 'OVERLOADED') throw new Error(JSON.stringify(body));
      took[code ? 'refused' : 'done'].push(spent);
    });
    took.beside.push(...(await steadily(reads, read)));
    await flood;
  }
  const summary = (numbers) => `p50 ${ms(quantile(numbers, 0.5))}, p99 ${ms(quantile(numbers, 0.99))}`;
  const factor = quantile(took.beside, 0.99) / quantile(took.alone, 0.99);
  console.log(`reads alone   ${summary(took.alone)} (${reads} a second, ${took.alone.length} in all)`);
  console.log(`reads beside  ${summary(took.beside)} (and ${logins} log-ins a second)`);
  const rate = (numbers) => (numbers.length / (rounds * seconds)).toFixed(0);
  console.log(`log-ins       ${rate(took.done)} a second done, ${summary(took.done)}`);
  if (took.refused.length) console.log(`              ${rate(took.refused)} a second OVERLOADED, ${summary(took.refused)}`);
  console.log(`the 99th percentile of reads is ${factor.toFixed(2)} times what it is without log-ins`);
  missed ||= !(factor <= 2);
} finally {
  await bed.stop();
  agent.destroy();
}
process.exit(missed ? 1 : 0);
