// The CPU time of documents, of the server and of Redis, for each token that they are charged, compared with a first screen.
//   node tests/bench/work.mjs PATH_TO_WAXWING [--people 9990] [--millis 200] [--rounds 5]
// One account follows all others, and they follow it; it has too few followers for the fan-out mode in which statuses are not pushed. In
// each round it sends every document repeatedly for this many milliseconds, one request after the other. The cost of a request that reads
// nothing is measured in the same way, and subtracted, and so is the cost of idle processes. The background work after a response counts
// with its document: the benchmark waits for its end. The table has the medians of the rounds, and the smallest and the largest factor of a
// round. The exit code is 1 when a document uses more than twenty times the CPU time a token of a first screen in the same round. The test
// suite checks the same by units that do not depend on the machine (tests/it/worst). Needs a quiet machine.
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bed, binary, cpuOf, isCalm, median, option } from './support.mjs';

const [people, millis, rounds] = [option('people', 9_990), option('millis', 200), option('rounds', 5)];
// Fewer requests are too inaccurate; more requests do not improve the result.
const [FEWEST, MOST] = [5, 1_000];

const SCREEN = `{ viewer { id } homeTimeline { entries(first: 30) { edges { cursor node { id status {
  id message postedAt likeCount commentCount viewerHasLiked author { id login name followersCount } } } } pageInfo { hasNextPage endCursor } } } }`;
const aliases = (field) => Array.from({ length: 20 }, (_, at) => `a${at}: ${field}`).join(' ');
const least = '{ edges { cursor } }';

// By name. Documents with %CURSOR% start in the middle of the home.
const DOCUMENTS = {
  'home, last 1': `{ homeTimeline { entries(last: 1) ${least} } }`,
  'home, last 1, 20 times': `{ homeTimeline { ${aliases(`entries(last: 1) ${least}`)} } }`,
  'home after its window': `{ homeTimeline { entries(first: 1, after: "%CURSOR%") ${least} } }`,
  'home after its window, 20 times': `{ homeTimeline { ${aliases(`entries(first: 1, after: "%CURSOR%") ${least}`)} } }`,
  'profiles of followers': '{ viewer { followers(first: 100) { edges { node { profileTimeline { entries(first: 1) { edges { cursor } } } } } } } }',
  'followers of followers': '{ viewer { followers(first: 100) { edges { node { followers(first: 1) { edges { cursor } } } } } } }',
  'followers, how they stand': '{ viewer { followers(first: 100) { edges { node { viewerIsFollowing isFollowingViewer } } } } }',
  'followers, last 100': '{ viewer { followers(last: 100) { edges { cursor node { login } } } } }',
  'logins, 20 times': `{ ${Array.from({ length: 20 }, (_, at) => `a${at}: user(login: "user${at + 2}") { bio }`).join(' ')} }`,
  'a post': 'mutation { postStatus(input: { message: "x" }) { userErrors { code } } }',
};

// Other limits (posts, follows, ...) bound the background work of these, and not the factor.
const LIMITED = ['a post'];

let missed = false;
const bed = new Bed();
try {
  const redis = await bed.redis();
  const follows = Array.from({ length: people }, (_, at) => `1 ${at + 2}\n${at + 2} 1`);
  writeFileSync(bed.path('follows'), follows.join('\n'));
  bed.run(binary, ['demo', '--redis', redis.url, '--follows', bed.path('follows'), '--statuses-per-user', 3, '--tokens', bed.path('tokens')]);
  const token = readFileSync(bed.path('tokens'), 'utf8').match(/^user1 (\S+)/m)[1];
  const limits = ['--rate-requests', '4503599627370/1s', '--rate-posts', '100000/1h'];
  const { child: server, port } = await bed.server(['--redis', redis.url, '--allow-volatile', '--log-filter', 'warn', ...limits]);
  const processes = [server, redis.child];

  const ask = async (query) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'waxwing-cost': '1' };
    const response = await (await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })).json();
    const mistakes = Object.values(response.data ?? {}).flatMap((field) => field?.userErrors ?? []);
    if (response.errors || mistakes.length > 0) throw new Error(`${query}: ${JSON.stringify(response)}`);
    return response;
  };
  const rest = async () => {
    if (!(await isCalm(processes))) throw new Error('the server and Redis do not come to rest');
  };
  // Measures the CPU time of both processes during `work` and until they are idle, less that of idle processes.
  let byThemselves = [0, 0];
  const cpuWhile = async (work) => {
    await rest();
    const [used, began] = [cpuOf(processes), performance.now()];
    const given = await work();
    await rest();
    const passed = performance.now() - began;
    return { given, passed, cpu: used().map((spent, at) => spent - passed * byThemselves[at]) };
  };
  const idle = await cpuWhile(() => sleep(3_000));
  byThemselves = idle.cpu.map((spent) => spent / idle.passed);

  const measure = async (query) => {
    const began = performance.now();
    await ask(query);
    const count = Math.min(MOST, Math.max(FEWEST, Math.round(millis / (performance.now() - began))));
    const { given, cpu } = await cpuWhile(async () => {
      const sum = { charged: 0, worked: 0 };
      for (let at = 0; at < count; at += 1) {
        const { cost } = (await ask(query)).extensions;
        sum.charged += cost.charged;
        sum.worked += cost.worked;
      }
      return sum;
    });
    return { charged: given.charged / count, worked: given.worked / count, server: cpu[0] / count, redis: cpu[1] / count };
  };
  // As above, less the cost that every request has, whatever its document is.
  const measureBeyond = async (query, nothing) => {
    const it = await measure(query);
    return { ...it, server: it.server - nothing.server, redis: it.redis - nothing.redis };
  };
  const each = (it) => (it.server + it.redis) / it.charged;

  let cursor = (await ask('{ homeTimeline { entries(first: 100) { edges { cursor } } } }')).data.homeTimeline.entries.edges.at(-1).cursor;
  for (let page = 0; page < 11; page += 1) {
    const { edges } = (await ask(`{ homeTimeline { entries(first: 100, after: "${cursor}") { edges { cursor } } } }`)).data.homeTimeline.entries;
    cursor = edges.at(-1).cursor;
  }
  const documents = Object.entries({ 'a first screen': SCREEN, ...DOCUMENTS }).map(([name, query]) => ({ name, query: query.replaceAll('%CURSOR%', cursor), seen: [] }));
  // Caches, connections and leases exist before the first round.
  for (const { query } of documents) await ask(query);
  for (let round = 0; round < rounds; round += 1) {
    const nothing = await measure('{ __typename }');
    let screen;
    for (const { query, seen } of documents) {
      const it = await measureBeyond(query, nothing);
      screen ??= it;
      seen.push({ ...it, factor: each(it) / each(screen) });
    }
  }
  console.log(`${'document'.padEnd(34)}  charged   worked server us  Redis us  factor  of rounds`);
  for (const { name, seen } of documents) {
    const of = (field) => median(seen.map((it) => it[field]));
    const factors = seen.map((it) => it.factor);
    missed ||= !LIMITED.includes(name) && !(of('factor') <= 20);
    const columns = [of('charged').toFixed(0).padStart(8), of('worked').toFixed(0).padStart(8), of('server').toFixed(0).padStart(9), of('redis').toFixed(0).padStart(9)];
    console.log(`${name.padEnd(34)} ${columns.join(' ')} ${of('factor').toFixed(2).padStart(7)}  ${Math.min(...factors).toFixed(2)} to ${Math.max(...factors).toFixed(2)}`);
  }
} finally {
  await bed.stop();
}
process.exit(missed ? 1 : 0);
