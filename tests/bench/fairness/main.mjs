// What one address can do to everybody else: each attack beside twenty clients who read, post and listen.
//   node tests/bench/fairness/main.mjs PATH_TO_WAXWING [--only NAME,NAME] [--seconds 8] [--soak MINUTES]
// For each row the clients run alone for half of the time, then with the attack beside them. It ends with 1 when their median more than doubles,
// when any of them gets an error, when an event is missed, or when clicks that nobody made are charged. `--soak` runs the attacks in turn instead, and fails when the server
// takes more than 512 MB, or does not come back to within 20 % of where it began. Attacks come from 127.0.9.9 in a process of the lowest priority;
// each client has an address of its own. Only a release build on a quiet machine tells anything.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ATTACKS } from './attacks.mjs';
import { Clients, quantile } from './clients.mjs';
import { startServer } from './server.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const [binary, seconds, soak] = [process.argv[2], Number(option('seconds', 8)), Number(option('soak', 0))];
const names = option('only', Object.keys(ATTACKS).join(',')).split(',');
const MIB = 1 << 20;
// The most clicks of one address that may be charged, whatever its visitors are called: the default of --ad-address-clicks.
const MAX_CLICKS = 100;

// Runs an attack in a process of its own until the returned function is called.
function attack(name, server) {
  const script = fileURLToPath(new URL('./attacks.mjs', import.meta.url));
  const target = { port: server.port, heavy: server.heavy, logins: server.logins, keys: server.keys };
  const child = spawn('nice', ['-n', '19', process.execPath, script, name, JSON.stringify(target)], { stdio: ['ignore', 'inherit', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  return async () => {
    child.kill('SIGTERM');
    await gone;
  };
}

const report = (name, all) =>
  `${name.padEnd(18)} p50 ${quantile(all.took, 0.5).toFixed(2).padStart(7)} ms  p99 ${quantile(all.took, 0.99).toFixed(1).padStart(7)} ms  ` +
  `${String(all.took.length).padStart(5)} answers  ${all.errors.length} errors  ${all.missed} events missed`;

// Half a row: what the clients see while this lasts.
async function observe(clients, length) {
  clients.begin();
  await sleep(length * 1000);
  return clients.end();
}

async function row(name, server, clients) {
  let largest = server.rss();
  const timer = setInterval(() => (largest = Math.max(largest, server.rss())), 100);
  const before = await server.clicks();
  const alone = await observe(clients, seconds / 2);
  const stop = attack(name, server);
  await sleep(500);
  const beside = await observe(clients, seconds);
  await stop();
  // What an attack leaves behind when it ends is part of it: thousands of subscriptions that close at once.
  const after = await observe(clients, 2);
  const times = quantile(beside.took, 0.5) / quantile(alone.took, 0.5);
  const errors = [...beside.errors, ...after.errors];
  const missed = beside.missed + after.missed;
  console.log(report(`${name}: alone`, alone));
  console.log(report(`${name}: beside`, beside));
  console.log(report(`${name}: after`, after));
  clearInterval(timer);
  const clicks = (await server.clicks()) - before;
  const fails = times > 2 || quantile(after.took, 0.5) > 2 * quantile(alone.took, 0.5) || errors.length > 0 || missed > 0 || clicks > MAX_CLICKS;
  console.log(`${''.padEnd(18)} ${times.toFixed(2)} times the median; server ${(largest / MIB).toFixed(0)} MiB at most${clicks ? `; ${clicks} clicks charged` : ''}${fails ? '  FAILS' : ''}`);
  for (const error of new Set(errors.map((error) => error.replace(/\d+ s /, '… s ').slice(0, 160)))) console.log(`${''.padEnd(18)} ${error}`);
  await sleep(1000);
  return !fails;
}

// All attacks in turn for so many minutes, and what the server takes meanwhile.
async function runSoak(server, clients) {
  await observe(clients, 5);
  const [before, until] = [server.rss(), Date.now() + soak * 60_000];
  let [largest, errors, missed] = [before, 0, 0];
  const timer = setInterval(() => (largest = Math.max(largest, server.rss())), 250);
  for (let turn = 0; Date.now() < until; turn += 1) {
    const name = names[turn % names.length];
    const stop = attack(name, server);
    const seen = await observe(clients, 20);
    await stop();
    [errors, missed] = [errors + seen.errors.length, missed + seen.missed];
    console.log(`${report(name, seen)}  ${(server.rss() / MIB).toFixed(0)} MiB  ${seen.errors[0]?.slice(0, 160) ?? ''}`);
  }
  clearInterval(timer);
  await sleep(10_000);
  const after = server.rss();
  console.log(`resident: ${[before, largest, after].map((bytes) => (bytes / MIB).toFixed(0)).join(', ')} MiB before, at most, after; ${errors} errors, ${missed} events missed`);
  return largest < 512 * MIB && after < 1.2 * before && errors === 0 && missed === 0;
}

const server = await startServer(binary);
let holds = true;
try {
  const clients = new Clients(server);
  await clients.listen();
  if (soak > 0) holds = await runSoak(server, clients);
  else for (const name of names) holds = (await row(name, server, clients)) && holds;
} finally {
  await server.stop();
}
process.exit(holds ? 0 : 1);
