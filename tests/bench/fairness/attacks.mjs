// The attacks of one address. Each sends as much as it can until it is stopped. Run by main.mjs: node attacks.mjs NAME TARGET
// When it is stopped, it prints the number of each of its results as JSON: an attack without results proves nothing.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { post, socket, subscribe } from './http.mjs';

// The address of the attack. Each attack has its own, so that no attack fails because another one has used up a limit.
let FROM;
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at));
const aliases = (count, field) => `{ ${times(count, (at) => `a${at}: ${field}`).join(' ')} }`;

// The number of each result.
const seen = {};
const note = (what) => (seen[what] = (seen[what] ?? 0) + 1);
const noteResponse = (response) => note(response ? (response.body.errors?.[0]?.extensions?.code ?? `status ${response.status}`) : 'no response');
const noteMessage = ({ type, payload }) => note(type === 'error' ? (payload?.[0]?.extensions?.code ?? 'error') : type);

// Opens a socket that records its messages.
const open = (target, from) => socket({ ...target, from }, noteMessage).catch(() => note('no socket') && undefined);

// Sends the same requests repeatedly, this many at once, whatever the responses are.
const flood = (target, token, many, operations) =>
  Promise.all(
    times(many, async (at) => {
      for (let turn = at; ; turn += 1) {
        const response = await post({ port: target.port, token, from: FROM }, operations[turn % operations.length]).catch(() => undefined);
        noteResponse(response);
        if (response?.status !== 200) await sleep(20);
      }
    }),
  );

const request = (query, variables, token) => {
  const body = JSON.stringify({ query, variables });
  const authorization = token ? `authorization: Bearer ${token}\r\n` : '';
  return `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${authorization}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

// Keeps this many raw connections open. `use` is called with each connection, and again with the next one when a connection ends.
const keep = (port, many, use) =>
  times(many, () => {
    const dial = () => {
      const opened = connect({ port, host: '127.0.0.1', localAddress: FROM });
      opened.on('error', () => {});
      opened.once('close', () => note('closed') && setTimeout(dial, 100));
      opened.once('connect', () => note('connected') && use(opened));
    };
    dial();
  });

// Reads a few bytes now and then, so that the connection is never quite idle.
function readSlowly(opened, bytes) {
  opened.pause();
  const timer = setInterval(() => opened.read(bytes), 500);
  opened.once('close', () => clearInterval(timer));
  opened.on('readable', () => {});
}

const NESTED = `query($l: String!) { user(login: $l) { profileTimeline { entries(first: 50) { edges { node { status { message author {
  profileTimeline { entries(first: 50) { edges { node { status { message } } } } } } } } } } } } }`;
const KEYWORDS = aliases(20, 'viewerCampaigns(first: 20) { edges { node { keywords } } }');
const FOLLOW = 'subscription($f: StatusFilter!) { statusEvents(filter: $f) { __typename } }';
const entries = (argument) => `homeTimeline { entries(${argument}) { edges { cursor node { status { id } } } } }`;

export const ATTACKS = {
  // Sockets whose filters name thousands of logins, opened and closed at once.
  async filters({ port, logins }) {
    for (let turn = 0; ; turn += 1) {
      const sockets = (await Promise.all(times(6, () => open({ port }, FROM)))).filter(Boolean);
      for (const [at, opened] of sockets.entries()) {
        for (const id of times(128, (id) => id)) {
          const from = (turn * 31 + at * 128 + id) % 5_000;
          if (opened.readyState === 1) subscribe(opened, id, FOLLOW, { f: { follow: logins.slice(from, from + 5_000) } });
          if (id % 16 === 15) await sleep(500);
        }
      }
      await sleep(1_000);
      sockets.forEach((opened) => opened.terminate());
    }
  },
  // Responses of many megabytes.
  responses: (target) => flood(target, target.heavy, 4, [{ query: NESTED, variables: { l: target.logins[2] } }, { query: KEYWORDS }]),
  // Clients that request large responses and read a few bytes now and then.
  'slow-readers'({ port, heavy }) {
    keep(port, 40, (opened) => {
      opened.write(request(KEYWORDS, {}, heavy));
      readSlowly(opened, 512);
    });
    return sleep(1e9);
  },
  // Sockets with many requests that read slowly.
  async 'slow-sockets'({ port, logins }) {
    for (;;) {
      const sockets = (await Promise.all(times(4, () => open({ port }, FROM)))).filter(Boolean);
      while (sockets.some((opened) => opened.readyState === 1)) {
        for (const opened of sockets) {
          opened._socket?.pause();
          for (const id of times(40, (id) => id)) if (opened.readyState === 1) subscribe(opened, `${Date.now()} ${id}`, NESTED, { l: logins[2] });
        }
        await sleep(3_000);
        sockets.forEach((opened) => opened._socket?.resume());
        await sleep(50);
      }
      await sleep(100);
    }
  },
  // Short requests with a high cost: the end of a home that ten thousand authors fill.
  homes: (target) => flood(target, target.heavy, 8, [{ query: aliases(20, entries('last: 1')) }, { query: `{ ${entries('last: 1')} }` }]),
  explain: (target) => {
    const keywords = JSON.stringify(target.keys.keywords);
    return flood(target, target.heavy, 8, target.keys.campaigns.map((id) => ({ query: aliases(20, `explainAd(campaignId: "${id}", slot: BANNER, keywords: $k) { eligible reasons rank }`).replace(/^/, 'query($k: [String!])'), variables: { k: JSON.parse(keywords) } })));
  },
  ads: (target) => {
    const input = (at) => ({ websiteKey: target.keys.website, slot: 'BANNER', keywords: target.keys.keywords, visitorId: `v${at}`, count: 10 });
    return flood(target, undefined, 8, times(100, (at) => ({ query: 'mutation($i: ServeAdsInput!) { serveAds(input: $i) { impressions { id token } userErrors { message } } }', variables: { i: input(at) } })));
  },
  // Forged clicks: each of another visitor.
  clicks: ({ port, keys }) => {
    const serve = 'mutation($i: ServeAdsInput!) { serveAds(input: $i) { impressions { token } } }';
    const click = 'mutation($i: ClickAdInput!) { clickAd(input: $i) { counted } }';
    const send = async (query, i) => {
      const response = await post({ port, from: FROM }, { query, variables: { i } }).catch(() => undefined);
      noteResponse(response);
      return response?.body.data;
    };
    const one = async (at) => {
      for (let turn = 0; ; turn += 1) {
        const served = await send(serve, { websiteKey: keys.website, slot: 'BANNER', keywords: keys.keywords.slice(0, 1), visitorId: `${at} ${turn}`, count: 10 });
        for (const { token } of served?.serveAds?.impressions ?? []) await send(click, { token });
        if (!served?.serveAds) await sleep(20);
      }
    };
    return Promise.all(times(8, one));
  },
  // Wrong passwords for another account.
  'log-ins': (target) => flood(target, undefined, 16, times(5, (at) => ({ query: 'mutation($i: LogInInput!) { logIn(input: $i) { session { token } userErrors { message } } }', variables: { i: { login: 'victim', password: `a wrong password ${at}` } } }))),
  // Bodies that are announced and not sent.
  bodies({ port }) {
    const head = 'POST /graphql HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n';
    let turn = 0;
    keep(port, 96, (opened) => {
      turn += 1;
      opened.write(head + (turn % 2 ? 'content-length: 1048576\r\n\r\n{' : 'transfer-encoding: chunked\r\n\r\n1\r\n{\r\n'));
    });
    return sleep(1e9);
  },
  // Connections without requests, and connections that are idle after one request.
  connections({ port }) {
    let turn = 0;
    keep(port, 600, (opened) => {
      turn += 1;
      if (turn % 2) opened.write('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      opened.resume();
    });
    return sleep(1e9);
  },
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.on('SIGTERM', () => process.stdout.write(JSON.stringify(seen), () => process.exit(0)));
  FROM = `127.0.9.${1 + Object.keys(ATTACKS).indexOf(process.argv[2])}`;
  await ATTACKS[process.argv[2]](JSON.parse(process.argv[3]));
}
