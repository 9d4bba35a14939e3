// Throughput of an overloaded server compared with its peak, and the time of refusals.
//   node tests/bench/overload.mjs PATH_TO_WAXWING [--seconds 6] [--users 500] [--page 100]
// The server has one core, Redis and the clients have another. The clients write and read raw sockets: an HTTP library would use more CPU
// time than the server. The peak is measured with a closed loop: each client waits for its response. The overload is an open loop: requests are
// sent at a fixed rate. The exit code is 1 when less than 80 % of the peak is left at three times the peak, or when a refusal takes 50 ms (99th
// percentile).
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bed, binary, cpu, option, quantile } from './support.mjs';

const [seconds, users, page] = [option('seconds', 6), option('users', 500), option('page', 100)];

const QUERY = `{ viewer { id } homeTimeline { entries(first: ${page}) { edges { cursor node { status {
  id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount bio } } } } } } }`;

// Connections, each with at most one request in flight.
class Clients {
  constructor(port, tokens) {
    const body = JSON.stringify({ query: QUERY });
    const head = (token) =>
      `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n`;
    Object.assign(this, { port, requests: tokens.map((token) => Buffer.from(head(token) + body)), idle: [], sent: 0 });
  }

  // Sends a request. Resolves to the duration, the status and the time of the response.
  ask() {
    const socket = this.idle.pop() ?? this.dial();
    if (socket.destroyed) throw new Error('the server has closed a connection');
    return new Promise((resolve, reject) => {
      Object.assign(socket, { resolve, reject, began: performance.now(), missing: -1 });
      socket.write(this.requests[this.sent++ % this.requests.length]);
    });
  }

  dial() {
    const socket = connect(this.port, '127.0.0.1').setNoDelay(true);
    socket.on('error', (error) => socket.reject(error));
    // Has no effect if no response is expected.
    socket.on('close', () => socket.reject(new Error('the server has closed a connection')));
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

const summary = (all) => `p50 ${quantile(all, 0.5).toFixed(1)}, p99 ${quantile(all, 0.99).toFixed(1)} ms`;

// Runs a load, and prints the number of requests a second whose responses came in time.
async function measure(name, server, load) {
  const [began, before] = [performance.now(), cpu(server)];
  const all = await load(() => performance.now() - began < seconds * 1000, () => (performance.now() - began) / 1000);
  const busy = (cpu(server) - before) / ((performance.now() - began) * 1000);
  const done = all.filter((it) => it.status === 200 && it.at - began <= seconds * 1000);
  const refused = all.filter((it) => it.status !== 200);
  const odd = refused.find((it) => !it.refusal);
  if (odd) throw new Error(`a response that is neither done nor refused: ${odd.status}`);
  const [rate, times] = [done.length / seconds, refused.map((it) => it.took)];
  const rest = refused.length ? `; ${(refused.length / seconds).toFixed(0)}/s refused, ${summary(times)}` : '';
  console.log(`${name.padEnd(14)} ${rate.toFixed(0)}/s done, ${summary(done.map((it) => it.took))}${rest}; server ${busy.toFixed(2)} cores`);
  return { rate, slowest: quantile(times, 0.99) };
}

const closedLoop = (clients, many) => async (goOn) => {
  const all = [];
  const one = async () => {
    while (goOn()) all.push(await clients.ask());
  };
  await Promise.all(Array.from({ length: many }, one));
  return all;
};

const openLoop = (clients, rate) => async (goOn, passed) => {
  const all = [];
  while (goOn()) {
    while (all.length < passed() * rate) all.push(clients.ask());
    await sleep(1);
  }
  return Promise.all(all);
};

let missed = false;
const bed = new Bed();
try {
  const redis = await bed.redis('1');
  const follows = Array.from({ length: users * 20 }, (_, at) => `${at % users} ${(at * 7 + 1 + Math.floor(at / users)) % users}`);
  writeFileSync(bed.path('follows'), follows.filter((line) => new Set(line.split(' ')).size === 2).join('\n'));
  bed.run(binary, ['demo', '--redis', redis.url, '--follows', bed.path('follows'), '--tokens', bed.path('tokens')]);
  const serve = ['--redis', redis.url, '--allow-volatile', '--rate-limits', 'off', '--log-filter', 'warn'];
  const { child: server, port } = await bed.server(serve, { core: '0' });
  const tokens = readFileSync(bed.path('tokens'), 'utf8').trim().split('\n').map((line) => line.split(' ')[1]);
  const clients = new Clients(port, tokens.slice(0, 300));

  let peak = 0;
  for (const many of [16, 8, 16, 32, 64]) peak = Math.max(peak, (await measure(`${many} clients`, server, closedLoop(clients, many))).rate);
  for (const times of [1, 2, 3, 5]) {
    const { rate, slowest } = await measure(`${times}x the peak`, server, openLoop(clients, times * peak));
    console.log(`${''.padEnd(14)} ${((100 * rate) / peak).toFixed(0)} % of the peak`);
    missed ||= times <= 3 && (rate < 0.8 * peak || slowest > 50);
    await sleep(500);
  }
} finally {
  await bed.stop();
}
process.exit(missed ? 1 : 0);
