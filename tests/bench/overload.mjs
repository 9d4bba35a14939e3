// What a server does that is asked for more than it can: how much of its peak is left, and how soon the rest is refused.
//   node tests/bench/overload.mjs PATH_TO_WAXWING [--seconds 6] [--users 500] [--page 100]
// The server has one core, Redis and the clients have another. Clients write and read their sockets themselves: an HTTP library would take
// more of a core than the server that it is to load. Requests are sent at a steady rate, whether the ones before have been answered or not.
// It ends with 1 when less than 80 % of the peak is left at three times the peak, or when a refusal takes 50 ms (99th percentile).
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const [seconds, users, page] = [option('seconds', 6), option('users', 500), option('page', 100)];
const binary = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
const children = [];

function start(core, command, args) {
  const child = spawn('taskset', ['-c', core, command, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  children.push({ child, gone: new Promise((resolve) => child.once('exit', resolve)) });
  return child;
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function until(what, so) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await so().catch(() => false)) return;
    await sleep(50);
  }
  throw new Error(`${what} did not come up`);
}

// Seconds of CPU that a process has had.
const cpu = (child) => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

const QUERY = `{ viewer { id } homeTimeline { entries(first: ${page}) { edges { cursor node { status {
  id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount bio } } } } } } }`;

// Connections, each of which has one request under way at most.
class Clients {
  constructor(port, tokens) {
    const body = JSON.stringify({ query: QUERY });
    const head = (token) =>
      `POST /graphql HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n`;
    Object.assign(this, { port, requests: tokens.map((token) => Buffer.from(head(token) + body)), idle: [], sent: 0 });
  }

  // When it is answered: how long it took, with which status, and when.
  ask() {
    const socket = this.idle.pop() ?? this.dial();
    return new Promise((resolve, reject) => {
      Object.assign(socket, { resolve, reject, began: performance.now(), missing: -1 });
      socket.write(this.requests[this.sent++ % this.requests.length]);
    });
  }

  dial() {
    const socket = connect(this.port, '127.0.0.1').setNoDelay(true);
    socket.on('error', (error) => socket.reject(error));
    socket.on('data', (data) => {
      if (socket.missing < 0) {
        const end = data.indexOf('\r\n\r\n');
        const head = data.latin1Slice(0, end).toLowerCase();
        socket.status = Number(head.slice(9, 12));
        socket.refusal = socket.status === 503 && head.includes('retry-after: ') && data.includes('"OVERLOADED"');
        socket.missing = end + 4 + Number(head.match(/content-length: (\d+)/)[1]);
      }
      socket.missing -= data.length;
      if (socket.missing > 0) return;
      const at = performance.now();
      this.idle.push(socket);
      socket.resolve({ took: at - socket.began, status: socket.status, refusal: socket.refusal, at });
    });
    return socket;
  }
}

const quantile = (numbers, part) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? 0;
const told = (all) => `p50 ${quantile(all, 0.5).toFixed(1)}, p99 ${quantile(all, 0.99).toFixed(1)} ms`;

// Runs a load and tells of it: what was answered within its time, a second.
async function measure(name, server, load) {
  const [began, before] = [performance.now(), cpu(server)];
  const all = await load(() => performance.now() - began < seconds * 1000, () => (performance.now() - began) / 1000);
  const busy = (cpu(server) - before) / ((performance.now() - began) / 1000);
  const done = all.filter((it) => it.status === 200 && it.at - began <= seconds * 1000);
  const refused = all.filter((it) => it.status !== 200);
  const odd = refused.find((it) => !it.refusal);
  if (odd) throw new Error(`an answer that is neither done nor refused: ${odd.status}`);
  const [rate, times] = [done.length / seconds, refused.map((it) => it.took)];
  const rest = refused.length ? `; ${(refused.length / seconds).toFixed(0)}/s refused, ${told(times)}` : '';
  console.log(`${name.padEnd(14)} ${rate.toFixed(0)}/s done, ${told(done.map((it) => it.took))}${rest}; server ${busy.toFixed(2)} cores`);
  return { rate, slowest: quantile(times, 0.99) };
}

const closed = (clients, many) => async (goOn) => {
  const all = [];
  const one = async () => {
    while (goOn()) all.push(await clients.ask());
  };
  await Promise.all(Array.from({ length: many }, one));
  return all;
};

const steady = (clients, rate) => async (goOn, passed) => {
  const all = [];
  while (goOn()) {
    while (all.length < passed() * rate) all.push(clients.ask());
    await sleep(1);
  }
  return Promise.all(all);
};

let missed = false;
try {
  const [redisPort, port] = [await freePort(), await freePort()];
  start('1', 'redis-server', ['--port', redisPort, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder].map(String));
  const redis = `redis://127.0.0.1:${redisPort}`;
  const follows = Array.from({ length: users * 20 }, (_, at) => `${at % users} ${(at * 7 + 1 + Math.floor(at / users)) % users}`);
  writeFileSync(join(folder, 'follows'), follows.filter((line) => new Set(line.split(' ')).size === 2).join('\n'));
  const world = ['demo', '--redis', redis, '--follows', join(folder, 'follows'), '--tokens', join(folder, 'tokens')];
  await until('Redis', async () => execFileSync('redis-cli', ['-p', redisPort, 'ping']));
  execFileSync(binary, world, { stdio: 'ignore' });
  const serve = ['serve', '--listen', `127.0.0.1:${port}`, '--redis', redis, '--allow-volatile', '--rate-limits', 'off', '--log-filter', 'warn'];
  const server = start('0', binary, serve);
  await until('the server', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
  const tokens = readFileSync(join(folder, 'tokens'), 'utf8').trim().split('\n').map((line) => line.split(' ')[1]);
  const clients = new Clients(port, tokens.slice(0, 300));

  let peak = 0;
  for (const many of [16, 8, 16, 32, 64]) peak = Math.max(peak, (await measure(`${many} clients`, server, closed(clients, many))).rate);
  for (const times of [1, 2, 3, 5]) {
    const { rate, slowest } = await measure(`${times} times that`, server, steady(clients, times * peak));
    console.log(`${''.padEnd(14)} ${((100 * rate) / peak).toFixed(0)} % of the peak`);
    missed ||= times <= 3 && (rate < 0.8 * peak || slowest > 50);
    await sleep(500);
  }
} finally {
  for (const { child, gone } of children) {
    child.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true });
}
process.exit(missed ? 1 : 0);
