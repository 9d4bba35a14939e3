// Tests the playground in Chromium against a running server. See settings.mjs for how to run it.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { demo, endSessionOf, logInWith } from './api.mjs';
import { open } from './browser.mjs';
import { Playground } from './playground.mjs';
import { login, password, screenshot, url } from './settings.mjs';

const WRONG = 'certainly-not-the-password';
let browser, page, pageErrors, playground;

before(async () => {
  ({ browser, page, pageErrors } = await open());
  playground = new Playground(page, url);
});

after(() => browser?.close());

// Every test also asserts that the console has no error, and that no request went to another origin.
afterEach(() => assert.deepEqual(pageErrors.splice(0), []));

test('the page loads with the main operations in its tabs, ready to run', async () => {
  await playground.load();
  assert.equal(await page.title(), 'Waxwing playground');
  assert.equal(await playground.tab('SignUp').getAttribute('aria-selected'), 'true');
  assert.equal(JSON.parse(await playground.shownVariables()).input.login, 'newcomer');
  assert.equal(await page.getByRole('tab').count(), 52);
  const links = await page.getByRole('navigation', { name: 'Parts' }).getByRole('link').evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute('href'), link.ariaCurrent]));
  assert.deepEqual(links, [['GraphiQL', '/', 'page'], ['Home', '/home', null], ['Live', '/live', null], ['Mentions', '/mentions', null], ['Bookmarks', '/bookmarks', null], ['Chat', '/chat', null], ['People', '/people', null], ['Ads', '/ads', null]]);
});

test('a change of routes does not reload the page, and no route loads the code of another', async () => {
  await page.evaluate(() => (window.isSamePage = true));
  await page.getByRole('link', { name: 'Live' }).click();
  await page.getByRole('form', { name: 'Filter' }).waitFor();
  assert.equal(await page.title(), 'Waxwing live');
  assert.equal(await page.getByRole('link', { name: 'Live' }).getAttribute('aria-current'), 'page');
  await page.goBack();
  await playground.execute().waitFor();
  assert.equal(await page.evaluate(() => window.isSamePage), true);
  const loaded = await filesOf('/live');
  assert.deepEqual(loaded.filter((name) => /graphiql|ads|home|people|chat/.test(name)), []);
  assert.ok(loaded.some((name) => /live/.test(name)));
  await playground.load();
});

test('a wrong password shows the message of the server', async () => {
  const [{ message }] = (await logInWith(WRONG)).userErrors;
  await playground.logIn(login, WRONG);
  await playground.alert.waitFor();
  assert.equal(await playground.alert.innerText(), message);
  assert.equal(await playground.status.count(), 0);
});

test('the form logs in and shows the user', async () => {
  await playground.logIn(login, password);
  await playground.status.waitFor();
  assert.match(await playground.status.innerText(), new RegExp(`\\(${login}\\), until .*\\d`));
  assert.equal(await playground.alert.count(), 0);
});

test('Home has 30 entries', async () => {
  const { data } = await playground.run('Home');
  assert.equal(data.viewer.login, login);
  assert.equal(data.homeTimeline.entries.edges.length, 30);
  if (screenshot) await page.screenshot({ path: screenshot });
});

test('a reload keeps the session and the tabs', async () => {
  await playground.load();
  await playground.status.waitFor();
  assert.equal(await page.getByRole('tab').count(), 52);
  assert.equal((await playground.run('Home')).data.viewer.login, login);
});

test('a status that PostStatus posts comes first in Home', async () => {
  const message = `Seen from the playground at ${new Date().toISOString()}.`;
  await playground.select('PostStatus');
  await playground.writeTool('Variables', JSON.stringify({ input: { message } }));
  const posted = (await playground.run('PostStatus')).data.postStatus;
  assert.deepEqual(posted.userErrors, []);
  const [first] = (await playground.run('Home')).data.homeTimeline.entries.edges;
  assert.deepEqual([first.node.status.id, first.node.status.message], [posted.status.id, message]);
});

test('a subscription runs over a socket until it is stopped', async () => {
  await playground.select('PublicStream');
  await playground.execute().click();
  await subscriptions(1);
  await page.getByRole('button', { name: /^Stop query/ }).click();
  await subscriptions(0);
  await playground.execute().waitFor();
});

test('the documentation shows the type Status', async () => {
  await playground.button('Show Documentation Explorer').click();
  const docs = page.getByRole('region', { name: 'Documentation Explorer' });
  await docs.getByRole('link', { name: 'Status', exact: true }).click();
  await docs.getByText('message', { exact: true }).waitFor();
  assert.equal(await docs.locator('.graphiql-doc-explorer-title').innerText(), 'Status');
  await playground.button('Hide Documentation Explorer').click();
});

test('an Authorization header of the user replaces the session', async () => {
  await playground.select('Viewer');
  await playground.writeTool('Headers', '{"Authorization": "Bearer nobody"}');
  const result = await unauthorized(() => playground.run('Viewer'));
  assert.equal(result.errors[0].extensions.code, 'UNAUTHENTICATED');
  assert.equal(await playground.status.count(), 1);
  await playground.writeTool('Headers', '{}');
  assert.equal((await playground.run('Viewer')).data.viewer.login, login);
});

test('Log out ends the session', async () => {
  const token = await storedToken();
  await playground.button('Log out').click();
  await playground.button('Log in').waitFor();
  assert.equal(await storedToken(), undefined);
  assert.equal((await playground.run('Viewer')).data.viewer, null);
  assert.equal(await endSessionOf(token), 'UNAUTHENTICATED');
});

test('variables are not filled with the ids of the account that was logged in before', async () => {
  await playground.logIn(login, password);
  await playground.status.waitFor();
  await playground.run('PostStatus');
  await playground.button('Log out').click();
  await playground.button('Log in').waitFor();
  await playground.select('LikeStatus');
  await playground.button('Variables').click();
  assert.equal(JSON.parse(await playground.shownVariables()).input.statusId, 'ID_OF_A_STATUS');
});

test('a login may be the name of a property of Object.prototype', async () => {
  for (const name of ['__proto__', 'constructor']) {
    const sent = page.waitForRequest((request) => request.postData()?.includes('logIn'));
    await playground.logIn(name, WRONG);
    assert.equal((await sent).postDataJSON().variables.input.deviceToken, null, name);
    await playground.alert.waitFor();
  }
});

test('an existing token can be used, and one whose session has ended is removed', async () => {
  const { token } = (await logInWith()).session;
  await playground.button('Use an access token').click();
  await page.getByLabel('Access token', { exact: true }).fill(token);
  await playground.button('Use token').click();
  await playground.status.waitFor();
  assert.notEqual(await endSessionOf(token), 'UNAUTHENTICATED');
  await unauthorized(() => playground.run('Viewer'));
  assert.match(await playground.alert.innerText(), /session has ended/);
  assert.equal(await storedToken(), undefined);
});

test('with demo data there is a button that logs in', async () => {
  const user = await demo();
  await playground.load('/graphql');
  await page.waitForLoadState('networkidle');
  if (!user) return assert.equal(await page.getByRole('button', { name: /^Log in as / }).count(), 0);
  await playground.button(`Log in as ${user.login}`).click();
  await playground.status.waitFor();
  assert.match(await playground.status.innerText(), new RegExp(`\\(${user.login}\\)`));
});

test('all tabs of the browser share the session until log-out', async () => {
  await playground.load('/home');
  const other = await page.context().newPage();
  await other.goto(new URL('/live', url).href);
  await other.getByRole('status').filter({ hasText: 'Logged in as' }).waitFor();
  await playground.button('Log out').click();
  await other.getByRole('button', { name: 'Log in', exact: true }).waitFor();
  assert.equal(await other.getByRole('alert').filter({ hasText: /./ }).count(), 0, 'nothing is wrong');
  await playground.logIn(login, password);
  await other.getByRole('status').filter({ hasText: 'Logged in as' }).waitFor();
  await other.close();
});

test('the theme applies to all routes and survives a reload', async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.getByLabel('Theme').selectOption({ label: 'Light' });
  const light = await background();
  await page.getByLabel('Theme').selectOption({ label: 'Dark' });
  assert.notEqual(await background(), light);
  const dark = await background();
  await playground.load();
  assert.equal(await background(), dark);
  await page.locator('body.graphiql-dark').waitFor();
  await page.getByLabel('Theme').selectOption({ label: 'System' });
});

test('the focus and errors have different colours', async () => {
  await playground.load('/live');
  await playground.button('Log out').click();
  await playground.logIn(login, WRONG);
  await playground.alert.filter({ hasText: /./ }).first().waitFor();
  const field = page.getByLabel('Login', { exact: true });
  await field.focus();
  await page.keyboard.press('Tab');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineColor);
  const [error] = await page.getByRole('region', { name: 'Session' }).getByRole('alert').evaluateAll((all) => all.map((it) => getComputedStyle(it).color));
  assert.notEqual(outline, error);
  assert.equal(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'solid');
});

test('Escape closes the token form', async () => {
  await playground.button('Use an access token').click();
  await page.keyboard.press('Escape');
  await playground.button('Log in').waitFor();
});

test('an unknown path shows an error page, and the shell stays', async () => {
  await playground.load('/home/nothing/here');
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
  await page.getByRole('link', { name: 'GraphiQL' }).click();
  await playground.execute().waitFor();
  assert.equal((await fetch(new URL('/nowhere', url))).status, 404);
});

// The assets that a path loads, in a new tab.
async function filesOf(path) {
  const other = await page.context().newPage();
  await other.goto(new URL(path, url).href, { waitUntil: 'load' });
  await other.getByRole('status').filter({ hasText: 'Live' }).waitFor();
  const names = await other.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  await other.close();
  return names.filter((name) => name.includes('/assets/')).map((name) => name.split('/').at(-1));
}

// Waits until the server has this number of subscriptions.
async function subscriptions(count) {
  for (let tries = 0; tries < 200; tries++) {
    const text = await (await fetch(new URL('/metrics', url))).text();
    const running = text.match(/^waxwing_live_subscriptions\{transport="ws"\} (\d+)$/m)?.[1] ?? '0';
    if (Number(running) === count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`there are not ${count} subscriptions`);
}

// Chromium logs every 401 as an error. Removes the expected one from the list, and no other.
async function unauthorized(action) {
  const logged = page.waitForEvent('console', (message) => /status of 401/.test(message.text()));
  const [result] = await Promise.all([action(), logged]);
  assert.equal(pageErrors.splice(0).length, 1);
  return result;
}

function storedToken() {
  return page.evaluate(() => JSON.parse(localStorage.getItem('waxwing.session'))?.token);
}
