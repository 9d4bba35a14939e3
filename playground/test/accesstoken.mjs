// Tests the form of the playground for access tokens, with tokens of an OpenID Connect provider.
//
// WAXWING_SHOTS=PREFIX writes screenshots to PREFIX-NAME.png.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import axe from 'axe-core';
import { open } from './browser.mjs';
import { Playground } from './playground.mjs';
import { OpenIdProvider } from './provider.mjs';
import { Server } from './server.mjs';

const VIEWER = 'query Viewer { viewer { login } }';
const SHOTS = process.env.WAXWING_SHOTS;

let provider, server, browser, page, pageErrors, playground;

before(async () => {
  provider = await OpenIdProvider.start();
  server = await Server.start({ demo: false, options: [...provider.options(), '--rate-limits', 'off'] });
});

after(async () => {
  await server?.remove();
  await provider?.end();
});

beforeEach(async () => {
  ({ browser, page, pageErrors } = await open(server.origin));
  playground = new Playground(page, server.url);
});

// Every test also asserts that the console has no error.
afterEach(async () => {
  await browser?.close();
  assert.deepEqual(pageErrors, []);
});

test('a JWT works on all pages, a reload keeps it, and log-out forgets it', async () => {
  const { access_token: token } = await provider.logIn();
  await playground.load('/home');
  await use(` Bearer ${token}\n`);
  await isIn();
  assert.match(await playground.status.innerText(), /\(AdaLovelace\), until .*\d:\d\d/);
  const message = 'Posted with an access token of the provider.';
  await page.getByLabel('Message', { exact: true }).fill(message);
  await page.getByRole('button', { name: 'Post', exact: true }).click();
  await page.getByRole('article').filter({ hasText: message }).waitFor();
  await shoot('home');
  await page.reload();
  await page.getByRole('article').filter({ hasText: message }).waitFor();
  await isIn();

  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('region', { name: 'Sessions' }).getByText('You use an access token of an identity provider.').waitFor();
  await page.getByRole('region', { name: 'Sessions' }).getByText('You have no sessions.').waitFor();
  await page.getByRole('region', { name: 'Password' }).getByText('This account has no password').waitFor();
  assert.deepEqual(await violations(), []);
  await shoot('account');

  await playground.load('/');
  assert.equal((await playground.run('Home')).data.homeTimeline.entries.edges[0].node.status.message, message);
  await playground.button('Log out').click();
  await playground.button('Log in').waitFor();
  assert.equal(await playground.alert.count(), 0);
  assert.equal(await page.evaluate(() => localStorage.getItem('waxwing.session')), null);
  assert.equal((await playground.run('Viewer')).data.viewer, null);
  // The provider's token itself is valid until it expires.
  assert.equal((await server.ask(token, VIEWER)).viewer.login, 'AdaLovelace');
});

test('a refused token shows the reason at the field', async () => {
  const seconds = Math.floor(Date.now() / 1_000);
  await playground.load('/home');
  const valid = provider.sign({ iat: seconds, exp: seconds + 300 });
  const cases = [
    ['two words', /This is not an access token/],
    ['nobody', /belongs to no session/],
    [`${valid.slice(0, -4)}AAAA`, /refuses this JWT/],
    [provider.sign({ iat: seconds, exp: seconds + 300, aud: 'another' }), /refuses this JWT/],
    [provider.sign({ iat: seconds - 300, exp: seconds - 61 }), /has expired/],
  ];
  for (const [token, text] of cases) {
    await use(token);
    assert.match(await errorAtField(text), text);
    assert.equal(await playground.status.count(), 0);
  }
  assert.deepEqual(await violations(), []);
  await shoot('refused');
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await violations(), []);
  await shoot('refused-phone');
  expectErrors(/status of 401/, 4);
  await use(valid);
  await isIn();
});

test('a valid token without an account shows that it is not provisioned', async () => {
  const other = await Server.start({ demo: false, options: provider.options().slice(0, -2) });
  const opened = await open(other.origin);
  try {
    [page, playground] = [opened.page, new Playground(opened.page, other.url)];
    await playground.load('/live');
    await use((await provider.logIn()).access_token);
    assert.match(await errorAtField(/no account/), /The token is valid, but no account/);
    assert.match(opened.pageErrors.splice(0).join(), /status of 403/);
  } finally {
    await opened.browser.close();
    await other.remove();
  }
});

test('an expired JWT logs out with the reason, without an action of the user', async () => {
  await playground.load('/');
  await use(expiring());
  await isIn();
  await page.waitForLoadState('networkidle');
  await playground.alert.filter({ hasText: 'The access token has expired.' }).waitFor({ timeout: 40_000 });
  await playground.button('Log in').waitFor();
  assert.equal(await page.evaluate(() => localStorage.getItem('waxwing.session')), null);
  await shoot('expired');
  expectErrors(/status of 401/, 1);
});

test('a socket that closes because of a JWT logs out, also if the clock of the browser is wrong', async () => {
  await page.clock.install({ time: Date.now() - 3_600_000 });
  await playground.load('/home');
  await use(expiring());
  await isIn();
  await page.waitForLoadState('networkidle');
  await playground.alert.filter({ hasText: 'The server no longer accepts the access token.' }).waitFor({ timeout: 40_000 });
  await page.getByText('Log in above to see your home.').waitFor();
});

// A token that the server accepts for 20 more seconds, since it does so for a minute after the expiry. The page sends its requests in that time,
// also on a slow machine: only its socket is open when the token expires.
function expiring() {
  const seconds = Math.floor(Date.now() / 1_000);
  return provider.sign({ iat: seconds - 100, exp: seconds - 40 });
}

async function use(token) {
  const form = page.getByRole('form', { name: 'Use an access token' });
  if ((await form.count()) === 0) await playground.button('Use an access token').click();
  await form.getByLabel('Access token', { exact: true }).fill(token);
  await form.getByRole('button', { name: 'Use token' }).click();
}

const isIn = () => playground.status.filter({ hasText: '(AdaLovelace)' }).waitFor();

// Waits for the error at the field, which has the focus, and returns it.
async function errorAtField(text) {
  await page.getByRole('form', { name: 'Use an access token' }).locator('button[aria-disabled=false]').waitFor();
  await page.getByRole('alert').filter({ hasText: text }).waitFor();
  const field = page.getByLabel('Access token', { exact: true });
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.equal(await field.evaluate((element) => element === document.activeElement), true);
  return field.evaluate((element) => document.getElementById(element.getAttribute('aria-describedby')).textContent);
}

// The violations that axe calls serious.
async function violations() {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const found = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
}

// Removes the expected errors of the console.
function expectErrors(pattern, count) {
  assert.equal(pageErrors.filter((text) => pattern.test(text)).length, count);
  pageErrors.splice(0, Infinity, ...pageErrors.filter((text) => !pattern.test(text)));
}

const shoot = (name) => SHOTS && page.screenshot({ path: `${SHOTS}-${name}.png` });
