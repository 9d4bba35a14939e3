// Builds every recipe and runs it with a new server on a free port with an empty data folder: `node run.mjs PATH_TO_WAXWING`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Server, freePort } from '../test/server.mjs';
import { coalesces } from './test/coalesce.mjs';
import { excerpts, read } from './test/excerpts.mjs';
import { withPage } from './test/page.mjs';
import { Program, build } from './test/program.mjs';
import { resumes } from './test/resumes.mjs';

if (!process.argv[2]) {
  console.error('Usage: node run.mjs PATH_TO_WAXWING');
  process.exit(2);
}
process.env.WAXWING_BINARY = resolve(process.argv[2]);

const DOCS = ['docs/frontend.md', 'docs/backend.md'];
const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } userErrors { message } } }';
// An account that the first one does not follow.
const STRANGER = 'chiara';
const DELETE = 'mutation ($input: DeleteStatusInput!) { deleteStatus(input: $input) { deletedStatusId } }';

let server, env, port;

before(async () => {
  port = await freePort();
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  env = { WAXWING_URL: server.origin, WAXWING_LOGIN: server.login, WAXWING_PASSWORD: server.password };
  // Other recipes import it.
  await build('resume');
});

after(() => server?.remove());

test('the code blocks of the docs equal the recipes', () => {
  const found = DOCS.flatMap(excerpts);
  for (const { source, code } of found) assert.ok(read(source).includes(code), `the docs show what ${source} does not have:\n${code}`);
  const shown = new Set(found.map(({ source }) => source.split('/')[2]));
  for (const name of recipes()) assert.ok(shown.has(name), `the docs show nothing of ${name}`);
});

// Opens the page of a recipe that Vite serves.
async function withVite(recipe, env, command, visit) {
  const vite = await Program.vite(recipe, port, env, command);
  try {
    await withPage(`http://127.0.0.1:${port}`, visit);
  } finally {
    await vite.stop();
  }
}

function recipes() {
  const folders = readdirSync(new URL('.', import.meta.url), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => name).filter((name) => !['node_modules', 'test'].includes(name));
}

describe('build', { concurrency: 2 }, () => {
  for (const name of recipes().filter((name) => name !== 'resume')) test(name, () => build(name));
});

test('codegen', async () => {
  assert.deepEqual(await Program.run('codegen', env).output(), [
    `posted in ${new Date().getUTCFullYear()}`,
    'budget: 9000000 a day: 0.2',
    '0.1 more: 0.3',
    'name: Please choose a name of 1 to 100 characters.',
    'budget: Please check this field.',
  ]);
});

// Both print the same, except for a line about Apollo's cache.
const feed = (name, ...more) => [
  'first page: 2 entries',
  'with the second page: 4 entries',
  ...more,
  'liked in the home: true',
  'with all newer pages: 11 entries',
  `after the event: 12 entries, the newest: ${name} was here.`,
  'after its deletion: 11 entries',
  'from the cache by an interface: true',
  'session: ended, ask for a log-in',
  'refused: UNAUTHENTICATED',
];

test('apollo', async () => {
  assert.deepEqual(await Program.run('apollo', env).output(), feed('Apollo', 'cached by both queries: true'));
});

test('urql', async () => {
  assert.deepEqual(await Program.run('urql', env).output(), feed('urql'));
});

test('auth', async () => {
  assert.deepEqual(await Program.run('auth', env).output(), [
    'without a session: null UNAUTHENTICATED',
    'wrong password: WRONG_CREDENTIALS',
    'logged in: true',
    'socket: connected',
    'session: ended, ask for a log-in',
    'token after the socket was closed: null',
    'session: begun',
    'session: ended, ask for a log-in',
    'request with the ended token: UNAUTHENTICATED',
    'token after the response: null',
  ]);
});

test('uploads', async () => {
  const [text, link, ...rest] = await Program.run('uploads', env).output();
  assert.equal(text, 'text: The view from here: ');
  assert.match(link, /^link: http:\S+\.png$/);
  assert.deepEqual(rest, ['text: .', 'stored: image/png 4 bytes', 'a file sent to Waxwing: 415 UNSUPPORTED_MEDIA_TYPE']);
});

test('backend', async () => {
  const admin = (...words) => execFileSync(process.env.WAXWING_BINARY, ['admin', ...words, '--redis', `unix:${server.folder}/data/redis.sock`], { encoding: 'utf8' });
  const key = admin('create-key', 'recipe', '--scope', 'users,act').trim();
  const backend = new Program('backend', ['main.js'], { WAXWING_URL: server.origin, WAXWING_KEY: key, PORT: String(port) });
  const session = () => fetch(`http://127.0.0.1:${port}/session`, { method: 'POST' });
  try {
    await backend.prints(/listening/);
    const [{ token }, { token: other }] = [await (await session()).json(), await (await session()).json()];
    assert.notEqual(token, other);
    for (const each of [token, other]) assert.equal((await server.ask(each, '{ viewer { name } }')).viewer.name, 'Grace Hopper');
    admin('revoke-key', 'recipe');
    assert.equal((await session()).status, 502);
  } finally {
    await backend.stop();
  }
});

test('relay', async () => {
  await withVite('relay', env, 'preview', async (page) => {
    const [statuses, like] = [page.getByRole('listitem'), page.getByRole('button', { name: /^Like/ }).first()];
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').filter({ hasText: /\w/ }).waitFor();
    await page.getByLabel('Password').fill(server.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await statuses.nth(2).waitFor();
    await page.getByRole('button', { name: 'Older' }).click();
    await statuses.nth(5).waitFor();
    assert.equal(await statuses.count(), 6);
    await like.click();
    await page.locator('button[aria-pressed=true]').first().waitFor();

    const token = await server.logIn();
    const { postStatus } = await server.ask(token, POST, { input: { message: 'Relay was here.' } });
    await page.getByText('Relay was here.').waitFor();
    assert.equal(await statuses.count(), 7);
    await server.ask(token, DELETE, { input: { statusId: postStatus.status.id } });
    await page.getByText('Relay was here.').waitFor({ state: 'detached' });

    await server.ask(token, 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds } }');
    await page.getByRole('button', { name: 'Log in' }).waitFor();
  });
});

describe('relay, while it reads', () => {
  const several = (name, count) => Array.from({ length: count }, (_, at) => `${name} ${at + 1}`);
  // The texts of the list without the author and the button.
  const shown = (page) => page.getByRole('listitem').evaluateAll((items) => items.map((item) => item.textContent.replace(/^\w+: | Like.*$/g, '')));
  const first = (page, message) => page.getByRole('listitem').first().filter({ hasText: message }).waitFor();

  async function logIn(page) {
    await page.getByLabel('Password').fill(server.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('listitem').nth(2).waitFor();
  }

  async function post(messages, token) {
    token ??= await server.logIn();
    for (const message of messages) await server.ask(token, POST, { input: { message } });
  }

  // Holds the first read of newer entries. `begun` is resolved when it was sent.
  async function hold(page) {
    let release, started;
    const [held, begun] = [new Promise((resolve) => (release = resolve)), new Promise((resolve) => (started = resolve))];
    let isFirst = true;
    await page.route('**/graphql', async (route) => {
      const { variables } = route.request().postDataJSON();
      if (!isFirst || !variables.last) return route.continue();
      isFirst = false;
      const response = await route.fetch();
      started();
      await held;
      await route.fulfill({ response });
    });
    return { release, begun };
  }

  test('reads everything that was posted during a read', () =>
    withVite('relay', env, 'preview', async (page) => {
      const { release, begun } = await hold(page);
      await logIn(page);
      const before = await shown(page);
      await post(['held']);
      await begun;
      const later = several('later', 25);
      await post(later);
      release();
      await first(page, 'later 25');
      assert.deepEqual(await shown(page), [...later.toReversed(), 'held', ...before]);
    }));

  test('goes on after a gap during a read', () =>
    withVite('relay', env, 'preview', async (page) => {
      const { release, begun } = await hold(page);
      let tellGap;
      await page.routeWebSocket(/graphql/, (socket) => {
        const origin = socket.connectToServer();
        socket.onMessage((text) => {
          const { type, id } = JSON.parse(text);
          if (type === 'subscribe') tellGap = () => socket.send(JSON.stringify({ type: 'next', id, payload: { data: { homeTimelineEvents: gap } } }));
          origin.send(text);
        });
      });
      const gap = { __typename: 'StreamGap', cursor: 'of the gap', reason: 'LOST' };
      await page.reload();
      await logIn(page);
      await post(['before the gap']);
      await begun;
      tellGap();
      release();
      await page.waitForFunction(() => document.querySelectorAll('li').length === 3);
      await post(['after the gap']);
      await first(page, 'after the gap');
      assert.deepEqual((await shown(page)).slice(0, 2), ['after the gap', 'before the gap']);
    }));

  test('follows the home of the account that is logged in now', () =>
    withVite('relay', env, 'preview', async (page) => {
      await logIn(page);
      // An event proves that the socket of the first account is open.
      await post(['of the first account']);
      await first(page, 'of the first account');
      const token = await server.logIn(STRANGER);
      await page.evaluate((token) => {
        localStorage.setItem('recipe.token', token);
        dispatchEvent(new StorageEvent('storage'));
      }, token);
      await page.getByText('of the first account').waitFor({ state: 'detached' });
      await page.getByRole('listitem').nth(2).waitFor();
      await post(['of the second account'], token);
      await first(page, 'of the second account');
    }));
});

describe('vite-cors', () => {
  const answered = /Ada Lindqvist has \d+ followers\. Request [0-9a-f]+\./;

  const shows = (env, query, subscription) =>
    withVite('vite-cors', env, 'dev', async (page) => {
      await page.getByText(query).waitFor();
      await page.getByText(subscription).waitFor();
    });

  test('through the proxy', () => shows(env, answered, 'Following the public stream.'));
  test('from another origin', () => shows({ ...env, VITE_WAXWING_URL: server.origin }, answered, 'Following the public stream.'));
  test('an origin that is not allowed', async (context) => {
    const strict = await Server.start({ options: ['--profile', 'production'] });
    context.after(() => strict.remove());
    await shows({ ...env, VITE_WAXWING_URL: strict.origin }, 'The server did not respond to this page', 'The socket was closed.');
  });
});

coalesces();
resumes('resume', 'resume', 'dist/main.js');
resumes('apollo, over multipart responses', 'apollo', 'dist/follow.js');
