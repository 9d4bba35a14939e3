// What documents cost in CPU, of the server and of Redis, for each token that they are charged; against a first screen.
//   node tests/bench/work.mjs PATH_TO_WAXWING [--people 10000] [--times 40]
// One account follows everybody else and is followed by them. Each document is sent again and again by it, one after the other, until both
// processes have used enough CPU to be read off /proc. It prints a table, and ends with 1 when a document uses more than twenty times the CPU a
// token that a first screen does. The suite holds the same by units that do not depend on the machine (tests/it/worst). For a quiet machine.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const [people, times] = [option('people', 10_000), option('times', 40)];
const binary = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
const children = [];

function start(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
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
  for (let tries = 0; tries < 400; tries += 1) {
    if (await so().catch(() => false)) return;
    await sleep(50);
  }
  throw new Error(`${what} did not come up`);
}

// Microseconds of CPU that a process has had: of its threads, which count in nanoseconds.
const cpu = (child) => {
  const tasks = execFileSync('ls', [`/proc/${child.pid}/task`], { encoding: 'utf8' }).trim().split('\n');
  const used = (task) => Number(readFileSync(`/proc/${child.pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  return tasks.reduce((sum, task) => sum + used(task), 0) / 1_000;
};

const SCREEN = `{ viewer { id } homeTimeline { entries(first: 30) { edges { cursor node { id status {
  id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount } } } } pageInfo { hasNextPage endCursor } } } }`;
const aliases = (field) => Array.from({ length: 20 }, (_, at) => `a${at}: ${field}`).join(' ');
const least = '{ edges { cursor } }';

// By name; those in which %CURSOR% stands are asked from the middle of the home.
const DOCUMENTS = {
  'home, last 1': `{ homeTimeline { entries(last: 1) ${least} } }`,
  'home, last 1, 20 times': `{ homeTimeline { ${aliases(`entries(last: 1) ${least}`)} } }`,
  'home behind its window': `{ homeTimeline { entries(first: 1, after: "%CURSOR%") ${least} } }`,
  'home behind its window, 20 times': `{ homeTimeline { ${aliases(`entries(first: 1, after: "%CURSOR%") ${least}`)} } }`,
  'profiles of followers': '{ viewer { followers(first: 100) { edges { node { profileTimeline { entries(first: 1) { edges { cursor } } } } } } } }',
  'followers of followers': '{ viewer { followers(first: 100) { edges { node { followers(first: 1) { edges { cursor } } } } } } }',
  'followers, how they stand': '{ viewer { followers(first: 100) { edges { node { viewerIsFollowing isFollowingViewer } } } } }',
  'followers, last 100': '{ viewer { followers(last: 100) { edges { cursor node { login } } } } }',
  'logins, 20 times': `{ ${Array.from({ length: 20 }, (_, at) => `a${at}: user(login: "user${at + 2}") { bio }`).join(' ')} }`,
  'a post': 'mutation { postStatus(input: { message: "x" }) { userErrors { code } } }',
};

let missed = false;
try {
  const [redisPort, port] = [await freePort(), await freePort()];
  const redisServer = start('redis-server', ['--port', redisPort, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder].map(String));
  const redis = `redis://127.0.0.1:${redisPort}`;
  const follows = Array.from({ length: people }, (_, at) => `1 ${at + 2}\n${at + 2} 1`);
  writeFileSync(join(folder, 'follows'), follows.join('\n'));
  await until('Redis', async () => execFileSync('redis-cli', ['-p', redisPort, 'ping']));
  const world = ['demo', '--redis', redis, '--follows', join(folder, 'follows'), '--statuses-per-user', '3', '--tokens', join(folder, 'tokens')];
  execFileSync(binary, world, { stdio: 'ignore' });
  const token = readFileSync(join(folder, 'tokens'), 'utf8').match(/^user1 (\S+)/m)[1];
  const limits = ['--rate-requests', '4503599627370/1s', '--rate-posts', '100000/1h'];
  const serve = ['serve', '--listen', `127.0.0.1:${port}`, '--redis', redis, '--allow-volatile', '--log-filter', 'warn', ...limits];
  const server = start(binary, serve);
  await until('the server', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);

  const ask = async (query) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'waxwing-cost': '1' };
    const answer = await (await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
    if (answer.errors) throw new Error(`${query}: ${JSON.stringify(answer.errors)}`);
    return answer;
  };
  const measure = async (query) => {
    await ask(query);
    const before = [cpu(server), cpu(redisServer)];
    let cost;
    for (let at = 0; at < times; at += 1) ({ cost } = (await ask(query)).extensions);
    await sleep(50);
    return { cost, server: (cpu(server) - before[0]) / times, redis: (cpu(redisServer) - before[1]) / times };
  };

  // What every request costs, whatever its document is.
  const idle = await measure('{ __typename }');
  const screen = await measure(SCREEN);
  const each = (it) => Math.max(it.server + it.redis - idle.server - idle.redis, 0) / it.cost.charged;
  const row = (name, it) => {
    const ratio = each(it) / each(screen);
    missed ||= ratio > 20;
    console.log(
      `${name.padEnd(34)} ${String(it.cost.charged).padStart(8)} ${String(it.cost.worked).padStart(8)} ${it.server.toFixed(0).padStart(9)} ${it.redis.toFixed(0).padStart(9)} ${ratio.toFixed(2).padStart(7)}`,
    );
  };
  console.log(`${'document'.padEnd(34)}  charged   worked server us  Redis us   times`);
  row('a first screen', screen);
  let cursor = (await ask('{ homeTimeline { entries(first: 100) { edges { cursor } } } }')).data.homeTimeline.entries.edges.at(-1).cursor;
  for (let page = 0; page < 11; page += 1) {
    const { edges } = (await ask(`{ homeTimeline { entries(first: 100, after: "${cursor}") { edges { cursor } } } }`)).data.homeTimeline.entries;
    cursor = edges.at(-1).cursor;
  }
  for (const [name, query] of Object.entries(DOCUMENTS)) row(name, await measure(query.replaceAll('%CURSOR%', cursor)));
} finally {
  for (const { child } of children.reverse()) child.kill('SIGTERM');
  await Promise.all(children.map(({ gone }) => gone));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(missed ? 1 : 0);
