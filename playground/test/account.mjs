// Tests the pages of the account: sign-up with an address, the links of messages, the password, the login, the profile and the sessions.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { open } from './browser.mjs';
import { linkTo, message } from './mails.mjs';
import { Server } from './server.mjs';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'a better horse and battery';
const SIGN_UP = 'mutation ($input: SignUpInput!) { signUp(input: $input) { session { token user { id login name } } userErrors { message } } }';
const LOG_IN = 'mutation ($login: String!, $password: String!) { logIn(input: { login: $login, password: $password }) { session { token } } }';
const CONFIRM = 'mutation ($token: String!) { confirmEmail(input: { token: $token }) { userErrors { message } } }';

let server;
let people = 0;
const windows = [];

before(async () => {
  server = await Server.start({ demo: false, options: ['--rate-limits', 'off'] });
});

after(() => server?.remove());

afterEach(closeWindows);

// Also asserts that no console had an error.
async function closeWindows() {
  for (const { browser, pageErrors } of windows.splice(0)) {
    await browser.close();
    assert.deepEqual(pageErrors, []);
  }
}

// A browser of its own, with the parts of the pages by their names.
async function newWindow(path) {
  const opened = await open(server.origin, { viewport: { width: 390, height: 844 } });
  windows.push(opened);
  const { page } = opened;
  const window = {
    page,
    go: (path) => page.goto(new URL(path, server.origin).href),
    form: (name) => page.getByRole('form', { name, exact: true }),
    region: (name) => page.getByRole('region', { name, exact: true }),
    heading: (name) => page.getByRole('heading', { name, exact: true }),
    bar: page.getByRole('region', { name: 'Session' }),
    // Fills the fields of a form and sends it with its last button.
    async send(name, fields) {
      for (const [label, text] of Object.entries(fields)) await window.form(name).getByLabel(label, { exact: true }).fill(text);
      await window.form(name).getByRole('button').last().click();
    },
    // The error at a field of a form, which has the focus.
    async refused(name, label) {
      const field = window.form(name).getByLabel(label, { exact: true });
      // An error of the attempt before may still be there.
      await window.form(name).locator('button[aria-disabled=false]').last().waitFor();
      await window.form(name).locator('[aria-invalid=true]').first().waitFor();
      assert.equal(await field.evaluate((element) => element === document.activeElement), true, `the focus is on ${label}`);
      return field.evaluate(errorOf);
    },
    async logIn(login, password) {
      await window.bar.getByLabel('Login', { exact: true }).fill(login);
      await window.bar.getByLabel('Password', { exact: true }).fill(password);
      await window.bar.getByRole('button', { name: 'Log in', exact: true }).click();
    },
    isIn: (login) => window.bar.getByRole('status').filter({ hasText: `(${login})` }).waitFor(),
    isOut: () => window.bar.getByRole('button', { name: 'Log in', exact: true }).waitFor(),
    status: (text) => page.getByRole('status').filter({ hasText: text }).waitFor(),
  };
  if (path) await window.go(path);
  return window;
}

// A new account, with a confirmed address.
async function newAccount() {
  const login = `person${++people}`;
  const email = `${login}@example.org`;
  const { session } = (await server.ask(null, SIGN_UP, { input: { login, name: `Person ${people}`, password: PASSWORD, email } })).signUp;
  const [, token] = (await linkTo(server, email)).split('#token=');
  assert.deepEqual((await server.ask(null, CONFIRM, { token })).confirmEmail.userErrors, []);
  return { login, email, token: session.token };
}

async function loggedIn(login, path, password = PASSWORD) {
  const window = await newWindow('/live');
  await window.logIn(login, password);
  await window.isIn(login);
  await window.go(path);
  return window;
}

test('a sign-up with an address sends a link, which confirms it, and the address logs in', async () => {
  const window = await newWindow('/live');
  const { page } = window;
  await page.getByRole('link', { name: 'Sign up' }).first().click();
  const form = window.form('Sign up');
  await form.waitFor();
  const attributes = await form.locator('input[name]').evaluateAll((all) => all.map(({ name, autocomplete, type }) => [name, autocomplete, type]));
  assert.deepEqual(attributes, [['login', 'username', 'text'], ['name', 'name', 'text'], ['password', 'new-password', 'password'], ['email', 'email', 'text']]);
  await window.send('Sign up', { Login: 'has space', Password: 'short', 'E-mail (optional)': 'nobody' });
  await window.refused('Sign up', 'Login');
  assert.equal(await form.locator('[aria-invalid=true]').count(), 3);
  await window.send('Sign up', { Login: 'signed_up', Name: 'Signed Up', Password: PASSWORD, 'E-mail (optional)': 'Signed.Up@Example.org' });
  await window.heading('Welcome, Signed Up').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1');
  await window.isIn('signed_up');
  await window.go('/account');
  await window.region('E-mail').getByRole('listitem').filter({ hasText: 'Signed.Up@example.org Not confirmed yet' }).waitFor();
  await page.goto(await linkTo(server, 'Signed.Up@example.org'));
  await window.status('Signed.Up@example.org is confirmed.');
  // The token leaves the history.
  await page.waitForURL(`${server.origin}/confirm-email`);
  await page.getByRole('link', { name: 'Your account' }).click();
  await window.region('E-mail').getByRole('listitem').filter({ hasText: 'Signed.Up@example.org Confirmed' }).waitFor();
  await window.bar.getByRole('button', { name: 'Log out' }).click();
  await window.isOut();
  await window.logIn('signed.up@example.org', PASSWORD);
  await window.isIn('signed_up');
});

test('a sign-up needs no address, and without a name the login is the name', async () => {
  const window = await newWindow('/sign-up');
  await window.send('Sign up', { Login: 'plain', Password: PASSWORD });
  await window.heading('Welcome, plain').waitFor();
  await window.go('/account');
  await window.region('E-mail').getByText('You have no address.').waitFor();
  assert.equal(await window.page.getByText('Remove your address').count(), 0);
});

test('a link confirms once, also without a session', async () => {
  const email = 'unconfirmed@example.org';
  await server.ask(null, SIGN_UP, { input: { login: 'unconfirmed', name: 'Un', password: PASSWORD, email } });
  const link = await linkTo(server, email);
  const window = await newWindow(link);
  await window.status('Your address is confirmed.');
  await window.page.getByText('Log in above to continue.').waitFor();
  await window.page.reload();
  await window.page.getByText('This page needs the whole link of the message.').waitFor();
  // In the same page: only the fragment changes.
  await window.page.goto(link);
  await window.page.getByRole('alert').filter({ hasText: 'invalid' }).waitFor();
  await window.page.getByText('Log in above to send another one').waitFor();
});

test('a link that could not be sent is sent again, and a session that has ended does not matter', async () => {
  const email = 'offline@example.org';
  const { signUp } = await server.ask(null, SIGN_UP, { input: { login: 'offline', name: 'Off', password: PASSWORD, email } });
  const link = await linkTo(server, email);
  const window = await loggedIn('offline', '/live');
  let isDown = true;
  const isConfirm = (route) => route.request().postDataJSON()?.operationName === 'ConfirmEmail';
  await window.page.route('**/graphql', (route) => (isDown && isConfirm(route) ? route.abort() : route.fallback()));
  await window.page.goto(link);
  await window.page.getByRole('alert').filter({ hasText: 'could not be reached' }).waitFor();
  isDown = false;
  await server.ask(signUp.session.token, 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds } }');
  await window.page.getByRole('button', { name: 'Try again' }).click();
  await window.status('Your address is confirmed.');
  await window.isOut();
  expectErrors(/ERR_FAILED|status of 401/);
});

test('a change of the password logs out the other window, and says so', async () => {
  const { login, email } = await newAccount();
  const [one, other] = [await loggedIn(login, '/account'), await loggedIn(login, '/home')];
  await other.page.locator('.connection[data-phase=live]').waitFor();
  const attributes = await one.form('Change password').locator('input[name]').evaluateAll((all) => all.map(({ name, autocomplete }) => [name, autocomplete]));
  assert.deepEqual(attributes, [['username', 'username'], ['currentPassword', 'current-password'], ['newPassword', 'new-password']]);
  await one.send('Change password', { 'Current password': 'not the password', 'New password': NEW_PASSWORD });
  assert.match(await one.refused('Change password', 'Current password'), /wrong/i);
  await one.send('Change password', { 'Current password': PASSWORD, 'New password': 'short' });
  assert.match(await one.refused('Change password', 'New password'), /8 to 128/);
  await one.send('Change password', { 'Current password': PASSWORD, 'New password': NEW_PASSWORD });
  // One more is that of the sign-up.
  await one.status('Your password is changed. 2 other sessions have ended.');
  assert.equal(await one.form('Change password').getByLabel('New password', { exact: true }).inputValue(), '');
  await one.region('Sessions').getByRole('listitem').and(one.page.locator(':only-child')).waitFor();
  await other.isOut();
  await other.bar.getByRole('alert').filter({ hasText: 'session has ended' }).waitFor();
  await other.logIn(login, PASSWORD);
  await other.bar.getByRole('alert').filter({ hasText: 'wrong' }).waitFor();
  await other.logIn(login, NEW_PASSWORD);
  await other.isIn(login);
  assert.match(await message(server, email, 2), /Subject: Your password/);
});

test('a password that is being written can be shown', async () => {
  const { login } = await newAccount();
  const window = await loggedIn(login, '/account');
  const field = window.form('Change password').getByLabel('New password', { exact: true });
  await window.form('Change password').getByLabel('Show: New password').check();
  assert.equal(await field.getAttribute('type'), 'text');
  assert.equal(await field.getAttribute('autocomplete'), 'new-password');
});

test('a forgotten password is reset by a link, and the page tells no address by its words', async () => {
  const { login, email, token } = await newAccount();
  const window = await newWindow('/live');
  await window.page.getByRole('link', { name: 'Forgot your password?' }).click();
  const words = async (address) => {
    await window.send('Forgot your password?', { 'E-mail': address });
    const status = window.page.getByRole('status').filter({ hasText: address });
    await status.waitFor();
    return (await status.innerText()).replace(address, '');
  };
  assert.equal(await words('stranger@example.org'), await words(email));
  await window.send('Forgot your password?', { 'E-mail': 'nobody' });
  await window.refused('Forgot your password?', 'E-mail');
  await window.page.goto(await linkTo(server, email, 2));
  await window.send('Choose a new password', { 'New password': 'short' });
  assert.match(await window.refused('Choose a new password', 'New password'), /8 to 128/);
  await window.send('Choose a new password', { 'New password': NEW_PASSWORD });
  await window.heading('Your password is changed').waitFor();
  await window.isIn(login);
  assert.equal(new URL(window.page.url()).hash, '');
  await assert.rejects(server.ask(token, '{ viewer { id } }'), /UNAUTHENTICATED/);
  await window.go('/account');
  await window.region('Sessions').getByText('by a link that reset the password').waitFor();
  // The link is used up.
  await window.page.goto(await linkTo(server, email, 2));
  await window.send('Choose a new password', { 'New password': PASSWORD });
  await window.form('Choose a new password').getByRole('alert').filter({ hasText: 'invalid' }).waitFor();
  await window.page.getByRole('link', { name: 'Send another link' }).click();
  await window.heading('Forgot your password?').waitFor();
});

test('a changed login is in the bar, the one before leads to the account, and it changes twice', async () => {
  const { login } = await newAccount();
  const taken = (await newAccount()).login;
  const window = await loggedIn(login, '/account');
  const change = (next, password = PASSWORD) => window.send('Change login', { 'New login': next, Password: password });
  await change('has space');
  await window.refused('Change login', 'New login');
  await change(taken);
  assert.match(await window.refused('Change login', 'New login'), /taken/);
  await change('renamed_once', 'not the password');
  assert.match(await window.refused('Change login', 'Password'), /wrong/i);
  await change('renamed_once');
  await window.status(`Your login is @renamed_once now. @${login} stays reserved`);
  await window.isIn('renamed_once');
  await change('renamed_twice');
  await window.isIn('renamed_twice');
  await change('renamed_again');
  await window.refused('Change login', 'New login');
  await window.go(`/profile/${login}`);
  await window.page.getByRole('heading', { name: /@renamed_twice/ }).waitFor();
  await window.page.reload();
  await window.isIn('renamed_twice');
});

test('a new address waits for its link, which can be sent again; another tab confirms it; both are removed', async () => {
  const { login, email } = await newAccount();
  const window = await loggedIn(login, '/account');
  const region = window.region('E-mail');
  await window.send('Change e-mail', { 'New address': 'new@example.org', Password: 'not the password' });
  assert.match(await window.refused('Change e-mail', 'Password'), /wrong/i);
  await window.send('Change e-mail', { 'New address': 'quoted"@example.org', Password: PASSWORD });
  await window.refused('Change e-mail', 'New address');
  await window.send('Change e-mail', { 'New address': 'new@example.org', Password: PASSWORD });
  await window.status('A link was sent to new@example.org.');
  await region.getByRole('listitem').filter({ hasText: `${email} Confirmed` }).waitFor();
  const first = await linkTo(server, 'new@example.org');
  await region.getByRole('button', { name: 'Send the link again' }).click();
  await window.status('Another link was sent to new@example.org.');
  const second = await linkTo(server, 'new@example.org', 2);
  const tab = await window.page.context().newPage();
  await tab.goto(first);
  await tab.getByRole('alert').filter({ hasText: 'invalid' }).waitFor();
  await tab.goto(second);
  await tab.getByText('new@example.org is confirmed.').waitFor();
  await tab.close();
  await window.page.evaluate(() => window.dispatchEvent(new Event('focus')));
  await region.getByRole('listitem').filter({ hasText: 'new@example.org Confirmed' }).waitFor();
  assert.equal(await region.getByRole('listitem').count(), 1);
  await region.getByText('Remove your address').click();
  await window.send('Remove e-mail', { Password: PASSWORD });
  await region.getByText('You have no address.').waitFor();
  assert.equal(await window.page.evaluate(() => document.activeElement.textContent), 'E-mail');
});

test('the profile is changed, and the bar and the profile show it, to each as chosen', async () => {
  const { login } = await newAccount();
  const window = await loggedIn(login, '/live');
  await window.page.getByRole('link', { name: 'Account' }).click();
  const form = window.form('Profile');
  await window.send('Profile', { Name: 'x'.repeat(51), Biography: 'Watches birds.' });
  await window.refused('Profile', 'Name');
  await window.send('Profile', { Name: 'Changed Name', Website: 'http://example.org' });
  await window.refused('Profile', 'Website');
  await form.getByLabel('Who sees your age').selectOption('Everyone');
  await window.send('Profile', { Website: 'https://example.org', Location: 'Uppsala', 'Date of birth': '1990-02-28' });
  await window.status('Saved.');
  await window.bar.getByRole('link', { name: 'Changed Name' }).waitFor();
  await window.page.getByRole('link', { name: 'See your profile' }).click();
  await window.page.getByText('Watches birds.').waitFor();
  await window.page.locator('.details > div').filter({ hasText: 'Born' }).getByText('Only you see it').waitFor();
  await window.page.locator('.details > div').filter({ hasText: 'Age' }).getByText('Everyone sees it').waitFor();
  const stranger = await newWindow(`/profile/${login}`);
  await stranger.page.getByText('Uppsala').waitFor();
  assert.deepEqual(await stranger.page.locator('.details dt').allInnerTexts(), ['Location', 'Website', 'Age']);
  await window.page.getByRole('link', { name: 'Edit profile' }).click();
  assert.equal(await form.getByLabel('Biography').inputValue(), 'Watches birds.');
  assert.equal(await form.getByLabel('Who sees your age').inputValue(), 'EVERYONE');
});

test('sessions are listed, and ended one by one or all at once', async () => {
  const { login, token } = await newAccount();
  const window = await loggedIn(login, '/account');
  const [one, two] = [await server.ask(null, LOG_IN, { login, password: PASSWORD }), await server.ask(null, LOG_IN, { login, password: PASSWORD })];
  await window.page.reload();
  const region = window.region('Sessions');
  await region.getByRole('listitem').nth(3).waitFor();
  await region.getByRole('listitem').filter({ hasText: 'This session' }).filter({ hasText: 'Chrome on Linux' }).waitFor();
  // The newest is first.
  await region.getByRole('listitem').first().getByRole('button').click();
  await region.getByRole('button', { name: 'Really log out? (node)' }).click();
  await window.status('The session has ended.');
  assert.equal(await window.page.evaluate(() => document.activeElement.textContent), 'Sessions');
  await assert.rejects(server.ask(two.logIn.session.token, '{ viewer { id } }'), /UNAUTHENTICATED/);
  assert.equal((await server.ask(one.logIn.session.token, '{ viewer { login } }')).viewer.login, login);
  await region.getByRole('button', { name: 'Log out all others' }).click();
  await region.getByRole('button', { name: 'Really log out all others?' }).click();
  await window.status('2 other sessions have ended.');
  await assert.rejects(server.ask(token, '{ viewer { id } }'), /UNAUTHENTICATED/);
  await region.getByRole('listitem').and(window.page.locator(':only-child')).waitFor();
});

test('the outbox lists the messages of a server in development, with links that work', async () => {
  const window = await newWindow('/sign-up');
  const email = 'from_the_outbox@example.org';
  await window.send('Sign up', { Login: 'developer', Password: PASSWORD, 'E-mail (optional)': email });
  await linkTo(server, email);
  await window.page.getByRole('link', { name: 'outbox' }).click();
  const letter = window.page.getByRole('list', { name: 'Messages' }).getByRole('article').filter({ hasText: email });
  assert.equal(await letter.getByRole('heading').innerText(), 'Confirm your e-mail address');
  await letter.getByRole('link', { name: /#token=/ }).click();
  await window.status(`${email} is confirmed.`);
});

test('a server in production shows no outbox, and the pages do not mention it', async () => {
  const production = await Server.start({ demo: false, options: ['--profile', 'production', '--playground', 'on', '--rate-limits', 'off'] });
  const usual = server;
  server = production;
  try {
    const window = await newWindow('/sign-up');
    await window.send('Sign up', { Login: 'visitor', Password: PASSWORD, 'E-mail (optional)': 'production@example.org' });
    await window.heading('Welcome, visitor').waitFor();
    await window.page.waitForLoadState('networkidle');
    assert.equal(await window.page.getByRole('link', { name: 'outbox' }).count(), 0);
    await window.go('/outbox');
    await window.page.getByRole('alert').filter({ hasText: 'does not show its outbox' }).waitFor();
    expectErrors(/status of 404/);
  } finally {
    server = usual;
    await closeWindows();
    await production.remove();
  }
});

// Runs in the page: the error that describes a field.
function errorOf(field) {
  const described = field.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id));
  return described.find((it) => it.getAttribute('role') === 'alert').textContent;
}

// Removes the expected errors of the console, at least one.
function expectErrors(pattern) {
  const expected = windows.flatMap(({ pageErrors }) => pageErrors.filter((text) => pattern.test(text)));
  assert.notEqual(expected.length, 0);
  for (const { pageErrors } of windows) pageErrors.splice(0, Infinity, ...pageErrors.filter((text) => !pattern.test(text)));
}
