// The effect of attacks from one address on other clients: each attack runs beside twenty clients that read, post and subscribe.
//   node tests/bench/fairness/main.mjs PATH_TO_WAXWING [--only NAME,NAME] [--seconds 8] [--soak MINUTES]
// For each row the clients run alone for half of the time, once the server is idle after the previous row, and then beside the attack. The
// exit code is 1 when the clients' median more than doubles, when one of them gets an error, when an event is missed, when forged clicks
// are charged, or when an attack ends by itself or has no effect. `--soak` runs the attacks in turn instead, and fails when the server uses
// more than 512 MB, or when its memory does not return to within 20 % of the initial value. Attacks come from a separate address, in a
// process of the lowest priority; each client has its own address. A late response counts for the requests that were due meanwhile too.
// Results are meaningful only for a release build on a quiet machine.
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { option, quantile } from '../support.mjs';
import { ATTACKS } from './attacks.mjs';
import { Clients } from './clients.mjs';
import { startServer } from './server.mjs';

const [seconds, soak] = [option('seconds', 8), option('soak', 0)];
const names = option('only', Object.keys(ATTACKS).join(',')).split(',');
const MIB = 1 << 20;
// The maximum number of charged clicks of one address, for any number of visitors: the default of --ad-address-clicks.
const MAX_CLICKS = 100;

// Runs an attack in a separate process. The returned function ends the attack, and returns its results.
function attack(name, server) {
  const script = fileURLToPath(new URL('./attacks.mjs', import.meta.url));
  const target = { port: server.port, heavy: server.heavy, logins: server.logins, keys: server.keys };
  const child = spawn('nice', ['-n', '19', process.execPath, script, name, JSON.stringify(target)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise((resolve) => child.once('close', resolve));
  let printed = '';
  child.stdout.on('data', (part) => (printed += part));
  return async () => {
    const isOver = child.exitCode !== null || child.signalCode !== null;
    child.kill('SIGTERM');
    await exited;
    const seen = printed ? Object.entries(JSON.parse(printed)) : [];
    const fault = isOver ? 'the attack has ended by itself' : seen.length === 0 ? 'the attack has come to nothing' : undefined;
    return { fault, text: seen.map(([what, count]) => `${count} × ${what}`).join(', ') };
  };
}

const report = (name, all) =>
  `${name.padEnd(20)} p50 ${quantile(all.took, 0.5).toFixed(2).padStart(7)} ms  p99 ${quantile(all.took, 0.99).toFixed(1).padStart(7)} ms  ` +
  `${String(all.took.length).padStart(5)} responses  ${all.errors.length} errors  ${all.missed} events missed`;

// Runs half a row: the clients' measurements during this time.
async function observe(clients, length) {
  clients.begin();
  await sleep(length * 1000);
  return clients.end();
}

async function row(name, server, clients) {
  // A baseline that the previous row has slowed down would hide the effect of this attack.
  const faults = (await server.isCalm()) ? [] : ['the server does not come to rest'];
  let largest = server.rss();
  const timer = setInterval(() => (largest = Math.max(largest, server.rss())), 100);
  const before = await server.clicks();
  const alone = await observe(clients, seconds / 2);
  const stop = attack(name, server);
  await sleep(500);
  const beside = await observe(clients, seconds);
  const result = await stop();
  // The end of an attack belongs to it: thousands of subscriptions close at once.
  const after = await observe(clients, 2);
  clearInterval(timer);
  const clicks = (await server.clicks()) - before;
  const all = { alone, beside, after };
  for (const [part, seen] of Object.entries(all)) console.log(report(`${name}: ${part}`, seen));
  const times = (seen, part) => quantile(seen.took, part) / quantile(alone.took, part);
  const errors = Object.values(all).flatMap((seen) => seen.errors);
  const missed = Object.values(all).reduce((sum, seen) => sum + seen.missed, 0);
  if (result.fault) faults.push(result.fault);
  // The negation is also true for NaN.
  if (!(times(beside, 0.5) <= 2 && times(after, 0.5) <= 2)) faults.push('the median more than doubles');
  if (errors.length > 0) faults.push('errors');
  if (missed > 0) faults.push('missed events');
  if (clicks > MAX_CLICKS) faults.push('clicks are charged');
  if (name === 'clicks' && clicks === 0) faults.push('no click is charged, so nothing bounds them');
  const space = ' '.repeat(20);
  console.log(`${space} ${times(beside, 0.5).toFixed(2)} times the median, ${times(beside, 0.99).toFixed(2)} times the 99th percentile; server ${(largest / MIB).toFixed(0)} MiB at most${clicks ? `; ${clicks} clicks charged` : ''}`);
  console.log(`${space} attack: ${result.text}`);
  if (faults.length > 0) console.log(`${space} FAILS: ${faults.join(', ')}`);
  for (const error of new Set(errors.map((error) => error.replace(/\d+ s /, '… s ').slice(0, 160)))) console.log(`${space} ${error}`);
  return faults.length === 0;
}

// Runs all attacks in turn for this many minutes, and measures the memory of the server.
async function runSoak(server, clients) {
  const [before, end] = [server.rss(), Date.now() + soak * 60_000];
  let [largest, errors, missed, faults] = [before, 0, 0, 0];
  const timer = setInterval(() => (largest = Math.max(largest, server.rss())), 250);
  for (let turn = 0; Date.now() < end; turn += 1) {
    const name = names[turn % names.length];
    const stop = attack(name, server);
    const seen = await observe(clients, 20);
    const { fault } = await stop();
    [errors, missed, faults] = [errors + seen.errors.length, missed + seen.missed, faults + (fault ? 1 : 0)];
    console.log(`${report(name, seen)}  ${(server.rss() / MIB).toFixed(0)} MiB  ${fault ?? ''} ${seen.errors[0]?.slice(0, 160) ?? ''}`);
  }
  clearInterval(timer);
  // The allocator returns the memory of responses to the system some time after they were read.
  const ended = Date.now();
  while (server.rss() >= 1.2 * before && Date.now() < ended + 120_000) await sleep(1_000);
  const after = server.rss();
  console.log(`resident: ${[before, largest, after].map((bytes) => (bytes / MIB).toFixed(0)).join(', ')} MiB before, at most, ${Math.round((Date.now() - ended) / 1000)} s after; ${errors} errors, ${missed} events missed, ${faults} attacks at fault`);
  return largest < 512 * MIB && after < 1.2 * before && errors === 0 && missed === 0 && faults === 0;
}

const server = await startServer();
let holds = true;
try {
  // In a soak each client posts 240 times.
  const clients = new Clients(server, Math.max(40, 5 * soak));
  await clients.listen();
  // Caches and connections exist before the measurement.
  await observe(clients, 5);
  if (soak > 0) holds = await runSoak(server, clients);
  else for (const name of names) holds = (await row(name, server, clients)) && holds;
} finally {
  await server.stop();
}
process.exit(holds ? 0 : 1);
