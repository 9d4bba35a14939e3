// Whether the time of a response reveals that an account has a mail address or a login.
//   node tests/bench/enumeration.mjs PATH_TO_WAXWING [--requests 500] [--accounts 20] [--apart 5]
// Requests for known and unknown names are sent one by one, in a random order: drift of the machine and work that goes on after a response, possibly for
// longer than the next request takes, affect both alike. The names are used equally often. The exit code is 1 when the medians of any kind differ by more than --apart
// percent. Results are meaningful only for a release build on a quiet machine.
import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { Bed, binary, median, option, quantile, until } from './support.mjs';

const [requests, accounts, apart] = [option('requests', 500), option('accounts', 20), option('apart', 5)];
const WARM_UP = 20;
const PASSWORD = 'correct horse battery';
// The limits are charged as usual, but no bucket becomes empty.
const PLENTY = ['mails', 'mails-from-address', 'sign-ups', 'log-ins', 'log-ins-from-address', 'log-ins-of-account'];

const bed = new Bed();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function send(port, query, input) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ query, variables: { input } });
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const began = performance.now();
    const asked = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', agent, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ took: performance.now() - began, body: JSON.parse(Buffer.concat(parts)) }));
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const SIGN_UP = 'mutation($input: SignUpInput!) { signUp(input: $input) { userErrors { code } } }';
const CONFIRM = 'mutation($input: ConfirmEmailInput!) { confirmEmail(input: $input) { userErrors { code } } }';
const RESET = 'mutation($input: RequestPasswordResetInput!) { requestPasswordReset(input: $input) { accepted userErrors { code } } }';
const LOG_IN = 'mutation($input: LogInInput!) { logIn(input: $input) { userErrors { code } } }';

// The tokens of the links in the outbox.
async function tokens() {
  const folder = bed.path('data/outbox');
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d.*\.eml$/.test(name));
  const sources = await Promise.all(names.map((name) => readFile(`${folder}/${name}`, 'utf8')));
  return sources.flatMap((source) => source.replaceAll('=\r\n', '').replaceAll('=3D', '=').match(/#token=([\w-]{43})/)?.[1] ?? []);
}

// Accounts with confirmed addresses.
async function signUp(port) {
  for (let number = 0; number < accounts; number += 1) {
    const input = { login: `known${number}`, name: 'n', password: PASSWORD, email: `known${number}@example.org` };
    const { body } = await send(port, SIGN_UP, input);
    if (body.errors || body.data.signUp.userErrors.length) throw new Error(JSON.stringify(body));
  }
  await until('the messages', async () => (await tokens()).length === accounts);
  for (const token of await tokens()) {
    const { body } = await send(port, CONFIRM, { token });
    if (body.errors || body.data.confirmEmail.userErrors.length) throw new Error(JSON.stringify(body));
  }
}

// All requests of a measurement, in a random order.
function shuffled(count) {
  const all = ['known', 'unknown'].flatMap((kind) => Array.from({ length: count }, (_, number) => ({ kind, name: `${kind}${number % accounts}` })));
  for (let last = all.length - 1; last > 0; last -= 1) {
    const at = randomInt(last + 1);
    [all[at], all[last]] = [all[last], all[at]];
  }
  return all;
}

// Measures one kind of request; `inputOf` makes the input for a name.
async function measure(port, query, inputOf, expected) {
  const took = { known: [], unknown: [] };
  const run = async ({ kind, name }, isMeasured) => {
    const { took: spent, body } = await send(port, query, inputOf(name));
    if (!expected(body.data)) throw new Error(JSON.stringify(body));
    if (isMeasured) took[kind].push(spent);
  };
  for (const one of shuffled(WARM_UP)) await run(one, false);
  for (const one of shuffled(requests)) await run(one, true);
  return took;
}

const wasAccepted = (data) => data?.requestPasswordReset?.accepted === true;
const wasWrong = (data) => data?.logIn?.userErrors?.[0]?.code === 'WRONG_CREDENTIALS';
const ms = (number) => `${number.toFixed(3)} ms`;

let missed = false;
try {
  const options = PLENTY.flatMap((name) => [`--rate-${name}`, '1000000/1h']);
  const { port } = await bed.server(['--data-dir', bed.path('data'), ...options], { env: { WAXWING_LOG: 'warn' } });
  await signUp(port);
  for (const [name, query, inputOf, expected] of [
    ['reset requests', RESET, (who) => ({ email: `${who}@example.org` }), wasAccepted],
    ['failed log-ins by address', LOG_IN, (who) => ({ login: `${who}@example.org`, password: 'battery staple' }), wasWrong],
    ['failed log-ins by login', LOG_IN, (who) => ({ login: who, password: 'battery staple' }), wasWrong],
  ]) {
    const took = await measure(port, query, inputOf, expected);
    const [known, unknown] = [median(took.known), median(took.unknown)];
    const difference = (known / unknown - 1) * 100;
    const spread = (numbers) => `${ms(median(numbers))} (p25 ${ms(quantile(numbers, 0.25))}, p75 ${ms(quantile(numbers, 0.75))})`;
    console.log(`${name}: known ${spread(took.known)}, unknown ${spread(took.unknown)}, ratio ${(known / unknown).toFixed(4)} (2 x ${took.known.length})`);
    // NaN is a failure, too.
    const isClose = Math.abs(difference) <= apart;
    if (!isClose) console.log(`  the medians differ by ${difference.toFixed(1)} %, more than ${apart} %`);
    missed ||= !isClose;
  }
} finally {
  await bed.stop();
  agent.destroy();
}
process.exit(missed ? 1 : 0);
