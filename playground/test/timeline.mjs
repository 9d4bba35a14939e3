// Tests the public stream and the home in Chromium: their statuses, and that none is missing or doubled when the server fails. Two servers share one
// Redis: that of the page, which is stopped and killed, and one that runs all the time.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { open } from './browser.mjs';
import { LivePage } from './livepage.mjs';
import { Redis } from './redis.mjs';
import { Server } from './server.mjs';

// The number of events that the server keeps: few, so that a gap needs few posts.
const KEPT = 100;
const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } userErrors { message } } }';
const DELETE = 'mutation ($input: DeleteStatusInput!) { deleteStatus(input: $input) { deletedStatusId } }';
const HOME = 'query { homeTimeline { entries(first: 25) { edges { node { status { message } } } } } }';
const OTHERS = '{ viewer { following(first: 1) { edges { node { login } } } } }';
const END_OTHERS = 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds userErrors { message } } }';

let redis, server, other, ada, friend;
let browser, page, pageErrors, live;

before(async () => {
  redis = await Redis.start();
  const options = ['--rate-limits', 'off', '--events-kept', String(KEPT)];
  server = await Server.start({ redis, options });
  other = await Server.start({ redis, options });
  ada = await other.logIn();
  friend = await other.logIn((await other.ask(ada, OTHERS)).viewer.following.edges[0].node.login);
});

after(async () => {
  await server?.remove();
  await other?.remove();
  await redis?.remove();
});

beforeEach(async () => {
  ({ browser, page, pageErrors } = await open(server.origin));
  live = new LivePage(page, server);
});

// The only errors in the console are those of a server that does not run, and of an ended session.
afterEach(async () => {
  await browser.close();
  const expected = /ERR_CONNECTION_REFUSED|WebSocket connection to .* failed|status of 401|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED/;
  assert.deepEqual(pageErrors.filter((text) => !expected.test(text)), []);
});

async function post(message, { token = ada, location, by = other } = {}) {
  const { postStatus } = await by.ask(token, POST, { input: { message, location } });
  assert.deepEqual(postStatus.userErrors, []);
  return postStatus.status.id;
}

// Posts several statuses in order, and returns their texts, newest first.
async function several(name, count, token) {
  const messages = Array.from({ length: count }, (_, at) => `${name} ${at + 1}`);
  for (const message of messages) await post(message, { token });
  return messages.toReversed();
}

const remove = (statusId) => other.ask(ada, DELETE, { input: { statusId } });
const home = async (token) => (await other.ask(token, HOME)).homeTimeline.entries.edges.map(({ node }) => node.status.message);

test('the public stream is shown without a session, in order, as text', async () => {
  await live.load();
  await live.followed();
  const posted = await several('seen', 3);
  const markup = '<img src=x onerror="document.title=1"> & <b>bold</b>\nsecond line';
  await post(markup);
  assert.deepEqual(await live.upTo(markup), [markup, ...posted]);
  assert.equal(await page.title(), 'Waxwing live');
  assert.equal(await page.getByRole('link', { name: 'GraphiQL' }).getAttribute('href'), '/');
  assert.equal(await page.getByRole('link', { name: 'Live' }).getAttribute('aria-current'), 'page');
  assert.equal(await live.items.locator('b, img').count(), 0);
});

test('a deleted status disappears', async () => {
  await live.load();
  await live.followed();
  const id = await post('to be deleted');
  await post('to stay');
  await live.upTo('to stay');
  await remove(id);
  await live.card('to be deleted').waitFor({ state: 'detached' });
  assert.deepEqual(await live.shown(), ['to stay']);
});

test('a filter of words, people or places shows only matching statuses', async () => {
  await live.load();
  await live.followed();
  await live.filter('Words', { Phrases: 'red kite\n#sky' });
  await live.followed();
  for (const message of ['a kite', 'sky', 'the Kite is RED', 'look: #sky']) await post(message);
  assert.deepEqual(await live.upTo('look: #sky'), ['look: #sky', 'the Kite is RED']);
  await live.filter('Places', { West: '170', South: '-20', East: '-170', North: '-10' });
  await live.followed();
  for (const [message, longitude] of [['fiji', 178], ['greenwich', 0], ['samoa', -172]]) {
    await post(message, { location: { latitude: -15, longitude } });
  }
  assert.deepEqual(await live.upTo('samoa'), ['samoa', 'fiji']);
  assert.equal(await live.card('samoa').locator('.place').innerText(), '15° S, 172° W');
  await live.filter('People', { Logins: `@${server.login}` });
  await live.followed();
  await post('by the friend', { token: friend });
  await post(`by the friend, for @${server.login}`, { token: friend });
  await post('by ada');
  assert.deepEqual(await live.upTo('by ada'), ['by ada', `by the friend, for @${server.login}`]);
});

test('the error of a filter is shown beside the field, and the filter can be corrected', async () => {
  await live.load();
  await live.followed();
  for (const [kind, fields, said] of [
    ['Sample', { Percent: '0' }, /`percent` must be above 0 and at most 100, not 0\./],
    ['Sample', { Percent: '5', Name: 'x'.repeat(65) }, /`identifier` must have at most 64 bytes\./],
    ['Words', { Phrases: '' }, /`track` must have 1 to 400 elements\./],
    ['Places', { South: '40', North: '10' }, /^West -10, south 40, east 30, north 10 of `locations` is not a box/],
  ]) {
    await live.filter(kind, fields);
    const error = page.getByRole('alert').filter({ hasText: said });
    await error.waitFor();
    const field = page.getByLabel(Object.keys(fields)[0], { exact: true });
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    assert.ok((await field.getAttribute('aria-describedby')).split(' ').includes(await error.getAttribute('id')));
    await live.phase('refused');
  }
  await live.filter('Sample', { Percent: '100', Name: '' });
  await live.followed();
  await post('after it was mended');
  assert.deepEqual(await live.upTo('after it was mended'), ['after it was mended']);
});

test('home shows its entries and new ones; the viewer posts and deletes', async () => {
  await live.load('/home');
  await live.logIn(server.login, server.password);
  await live.followed();
  const held = await home(ada);
  assert.deepEqual(await live.shown(), held);
  await post('from a friend', { token: friend });
  await live.upTo('from a friend');
  assert.equal(await live.card('from a friend').getByRole('button', { name: 'Delete' }).count(), 0, 'not one’s own');
  for (const [count, pressed] of [['1 repost', 'true'], ['0 reposts', 'false']]) {
    await live.card('from a friend').getByRole('button', { name: /^Repost/ }).click();
    await live.card('from a friend').getByRole('button', { name: `Repost: ${count}`, pressed: pressed === 'true' }).waitFor();
  }
  await live.message.fill(' 👩‍👩‍👧‍👦é ');
  assert.equal(await page.locator('.post .count').innerText(), '2 / 500');
  await live.message.fill('x'.repeat(501));
  await live.button('Post').click();
  await page.getByRole('alert').filter({ hasText: /500/ }).waitFor();
  await live.message.fill('by hand');
  await live.message.press('Control+Enter');
  assert.deepEqual(await live.upTo('by hand'), ['by hand', 'from a friend', ...held]);
  assert.equal(await live.message.inputValue(), '');
  await live.card('by hand').getByRole('button', { name: 'Edit' }).click();
  const editor = page.getByRole('form', { name: 'Save' }).getByRole('textbox');
  assert.equal(await editor.inputValue(), 'by hand');
  await editor.press('Escape');
  assert.equal(await editor.count(), 0, 'Escape closes the editor');
  await live.card('by hand').getByRole('button', { name: 'Edit' }).click();
  await editor.fill('by hand, better');
  await editor.press('Control+Enter');
  const edited = live.card('by hand, better');
  await edited.getByText('edited').waitFor();
  await edited.locator('.versions summary').press('Enter');
  await edited.locator('.versions li').nth(1).waitFor();
  assert.deepEqual(await edited.locator('.versions .text').allInnerTexts(), ['by hand', 'by hand, better']);
  assert.deepEqual(await live.shown(), ['by hand, better', 'from a friend', ...held], 'it keeps its place');
  await edited.getByRole('button', { name: 'Delete' }).click();
  await live.button('Delete for everybody?').click();
  await edited.waitFor({ state: 'detached' });
  assert.deepEqual(await live.shown(), ['from a friend', ...held]);
  await live.button('Log out').click();
  await page.getByText('Log in above to see your home.').waitFor();
  assert.deepEqual(await live.shown(), [], 'nothing of a home stays on the page');
});

test('older posts of a home are read on request, also by keyboard', async () => {
  await several('old', 30, friend);
  await live.load('/home');
  await live.logIn(server.login, server.password);
  await live.followed();
  assert.deepEqual(await live.shown(), (await home(ada)).slice(0, 25));
  await live.button('Older posts').focus();
  await page.keyboard.press('Enter');
  await live.items.nth(49).waitFor();
  const { homeTimeline } = await other.ask(ada, HOME.replace('25', '50'));
  assert.deepEqual(await live.shown(), homeTimeline.entries.edges.map(({ node }) => node.status.message));
  assert.equal(await live.items.nth(25).evaluate((row) => row === document.activeElement), true, 'the first older post has the focus');
});

test('a log-out shows no notice of an ended session, though the socket is closed first', async () => {
  await live.load('/home');
  await live.logIn(server.login, server.password);
  await live.followed();
  let resolveResult;
  const result = new Promise((resolve) => (resolveResult = resolve));
  await page.route(/graphql/, async (route) => {
    if (!route.request().postData()?.includes('LogOut')) return route.fallback();
    const response = await route.fetch();
    while (live.sockets > 0 && !(await live.button('Log in').isVisible())) await page.waitForTimeout(20);
    await route.fulfill({ response });
    resolveResult();
  });
  await live.button('Log out').click();
  await live.button('Log in').waitFor();
  await result;
  await page.getByText('Log in above to see your home.').waitFor();
  assert.equal(await live.alert.isVisible(), false, 'nothing is wrong');
});

test('a status that is posted between the read of the home and its subscription is there once', async () => {
  let letThrough;
  const held = new Promise((resolve) => (letThrough = resolve));
  await live.load('/home');
  await page.routeWebSocket(/graphql/, async (socket) => {
    await held;
    socket.connectToServer();
  });
  await live.logIn(server.login, server.password);
  const read = await home(ada);
  await live.items.nth(read.length - 1).waitFor();
  assert.deepEqual(await live.shown(), read);
  const between = await several('between', 3, friend);
  letThrough();
  await live.phase('live');
  await post('after', { token: friend });
  assert.deepEqual(await live.upTo('after'), ['after', ...between, ...read]);
});

for (const [how, signal] of [['killed', 'SIGKILL'], ['stopped', 'SIGTERM']]) {
  for (const [where, path] of [['the public stream', '/live'], ['a home', '/home']]) {
    test(`${where}: the server is ${how} and restarted: no status is missing or doubled`, async () => {
      await live.load(path);
      if (path === '/home') await live.logIn(server.login, server.password);
      await live.followed();
      const held = await live.shown();
      const first = await several('before', 5, friend);
      await live.upTo('before 5');
      const [second] = await Promise.all([several('as it goes', 10, friend), server.end(signal)]);
      await live.phase('waiting');
      const third = await several('meanwhile', 5, friend);
      const gone = await post('posted and deleted meanwhile');
      await remove(gone);
      const [fourth] = await Promise.all([several('as it comes', 20, friend), server.begin()]);
      await live.followed();
      const fifth = await several('after', 5, friend);
      const shown = await live.upTo('after 5');
      assert.deepEqual(shown, [...fifth, ...fourth, ...third, ...second, ...first, ...held]);
      assert.equal(await live.notice.isVisible(), false, 'there was no gap');
    });
  }
}

test('a status that is deleted during a disconnect disappears after the reconnect', async () => {
  await live.load();
  await live.followed();
  const id = await post('deleted while away');
  await post('kept while away');
  await live.upTo('kept while away');
  await server.end('SIGKILL');
  await remove(id);
  await server.begin();
  await live.card('deleted while away').waitFor({ state: 'detached' });
  assert.deepEqual(await live.shown(), ['kept while away']);
});

test('a gap has a notice, and the home is complete after it', async () => {
  await live.load('/home');
  await live.logIn(server.login, server.password);
  await live.followed();
  await post('before the gap', { token: friend });
  await live.upTo('before the gap');
  await server.end('SIGKILL');
  await several('in the gap', KEPT + 60, friend);
  await server.begin();
  await live.notice.filter({ hasText: /too long ago/ }).waitFor();
  await live.followed();
  await post('after the gap', { token: friend });
  await live.upTo('after the gap');
  // The page read 25, and one came.
  assert.deepEqual((await live.shown()).slice(0, 25), await home(ada));
});

test('a gap in the public stream is marked at its place, and statuses that were deleted meanwhile disappear', async () => {
  await live.load();
  await live.followed();
  const id = await post('deleted in the gap');
  await post('before the gap');
  await live.upTo('before the gap');
  await server.end('SIGKILL');
  await remove(id);
  await several('in the gap', KEPT + 60);
  await server.begin();
  await live.items.filter({ hasText: /too long ago/ }).waitFor();
  await live.card('deleted in the gap').waitFor({ state: 'detached' });
  await live.followed();
  await post('after the gap');
  await live.upTo('after the gap');
  const items = await live.items.evaluateAll((all) => all.map((it) => it.querySelector('.message')?.textContent ?? it.className));
  const at = items.indexOf('gap');
  assert.deepEqual(items.slice(at), ['gap', 'before the gap']);
  assert.equal(items.lastIndexOf('gap'), at, 'one gap is told once');
});

test('a disconnect before the first event loses no event', async () => {
  await live.load();
  await live.followed();
  await server.end('SIGKILL');
  await live.phase('waiting');
  await post('unseen');
  await server.begin();
  assert.deepEqual(await live.upTo('unseen'), ['unseen']);
  assert.equal(await live.notice.isVisible(), false, 'there was no gap');
});

test('a silent connection is replaced', async () => {
  let silent = false;
  await page.routeWebSocket(/graphql/, (socket) => {
    const isFirst = !silent;
    const origin = socket.connectToServer();
    origin.onMessage((text) => (isFirst && silent ? null : socket.send(text)));
  });
  await page.clock.install();
  await live.load();
  await live.followed();
  await post('heard');
  await live.upTo('heard');
  silent = true;
  const unheard = await several('unheard', 3);
  await page.clock.fastForward(39_000);
  assert.deepEqual(await live.shown(), ['heard'], 'the server has until its next ping');
  await page.clock.fastForward(2_000);
  assert.deepEqual(await live.upTo('unheard 3'), [...unheard, 'heard']);
});

test('the wait that the server names is used, and the user can skip it', async () => {
  const sockets = [];
  await page.routeWebSocket(/graphql/, (socket) => {
    sockets.push(socket);
    socket.connectToServer();
  });
  await page.clock.install();
  await live.load();
  await live.followed();
  await post('before');
  await live.upTo('before');
  await page.clock.pauseAt(Date.now() + 1_000);
  await sockets[0].close({ code: 1001, reason: 'Going away, retry in 9 s' });
  await live.state.getByText('Reconnecting').waitFor();
  assert.equal(await live.state.locator('.countdown').innerText(), 'in 9 s');
  await page.clock.runFor(4_000);
  assert.equal(await live.state.locator('.countdown').innerText(), 'in 5 s');
  assert.equal(sockets.length, 1);
  const id = await post('meanwhile');
  await live.button('Now').click();
  await live.phase('live');
  await page.clock.resume();
  await live.upTo('meanwhile');
  await remove(id);
  await live.card('meanwhile').waitFor({ state: 'detached' });
  assert.equal(sockets.length, 2);
});

test('after a normal close it resumes from the last cursor, too', async () => {
  const [sockets, asked] = [[], []];
  await page.routeWebSocket(/graphql/, (socket) => {
    sockets.push(socket);
    const origin = socket.connectToServer();
    socket.onMessage((text) => {
      const { type, payload } = JSON.parse(text);
      if (type === 'subscribe') asked.push(payload.variables.after);
      origin.send(text);
    });
  });
  await live.load();
  await live.followed();
  await post('before');
  await live.upTo('before');
  await sockets[0].close({ code: 1000, reason: '' });
  await post('meanwhile');
  await live.upTo('meanwhile');
  assert.deepEqual(asked.map((after) => typeof after), ['string', 'string']);
  assert.notEqual(asked[1], asked[0], 'not from the beginning');
});

test('the end of a session by another device asks for a log-in, after which the home continues', async () => {
  await live.load('/home');
  await live.logIn(server.login, server.password);
  await live.followed();
  await other.ask(ada, END_OTHERS);
  await live.alert.getByText('The session has ended. Log in again.').waitFor();
  await page.getByText('Log in above to see your home.').waitFor();
  assert.deepEqual(await live.shown(), []);
  await live.logIn(server.login, server.password);
  await live.followed();
  assert.deepEqual(await live.shown(), await home(ada));
});

test('a session that ended while the browser was closed does not stop the public stream', async () => {
  await page.addInitScript(() => {
    const user = { id: 'unknown', login: 'unknown', name: 'Unknown' };
    localStorage.setItem('waxwing.session', JSON.stringify({ token: 'ended', user, expiresAt: null }));
  });
  await live.load();
  await live.followed();
  await post('without a session');
  assert.deepEqual(await live.upTo('without a session'), ['without a session']);
});

test('the scroll position is kept, and the list is bounded', async () => {
  await live.load();
  await live.followed();
  await several('long', 205);
  assert.equal((await live.upTo('long 205')).length, 200);
  const read = live.card('long 180');
  await read.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const place = await read.boundingBox();
  await several('newer', 3);
  await live.button('↑ 3 new').waitFor();
  // Scroll positions are whole pixels.
  assert.ok(Math.abs((await read.boundingBox()).y - place.y) < 1);
  await live.button('↑ 3 new').click();
  await live.button('↑ 3 new').waitFor({ state: 'hidden' });
  assert.ok((await live.items.first().boundingBox()).y >= 0);
  assert.equal((await live.shown()).length, 200);
});
