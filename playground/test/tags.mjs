// Tests tags, mentions and reposts in Chromium: their pages, their live events, and what they bring into the home.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { open } from './browser.mjs';
import { Server } from './server.mjs';

const POST = 'mutation ($input: PostStatusInput!) { result: postStatus(input: $input) { status { id } userErrors { message } } }';
const EDIT = 'mutation ($input: EditStatusInput!) { result: editStatus(input: $input) { userErrors { message } } }';
const DELETE = 'mutation ($input: DeleteStatusInput!) { result: deleteStatus(input: $input) { userErrors { message } } }';
const REPOST = 'mutation ($input: RepostStatusInput!) { result: repostStatus(input: $input) { userErrors { message } } }';
const UNDO = 'mutation ($input: UndoRepostInput!) { result: undoRepost(input: $input) { userErrors { message } } }';
const FOLLOW = 'mutation ($input: FollowUserInput!) { result: followUser(input: $input) { userErrors { message } } }';
const SIGN_UP = 'mutation ($input: SignUpInput!) { result: signUp(input: $input) { session { token user { id } } userErrors { message } } }';

let server, tokens, ids;
let browser, page, pageErrors;

// New accounts: their homes have nothing of the demo.
before(async () => {
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  const made = await Promise.all(['reader', 'writer', 'friend'].map(signUp));
  tokens = Object.fromEntries(made.map(({ login, token }) => [login, token]));
  ids = Object.fromEntries(made.map(({ login, id }) => [login, id]));
});

after(() => server?.remove());

beforeEach(async () => {
  ({ browser, page, pageErrors } = await open(server.origin));
});

afterEach(async () => {
  await browser.close();
  assert.deepEqual(pageErrors, []);
});

async function signUp(login) {
  const input = { login, name: login, password: server.password };
  const { result } = await server.ask(null, SIGN_UP, { input });
  assert.deepEqual(result.userErrors, []);
  return { login, token: result.session.token, id: result.session.user.id };
}

async function change(login, query, input) {
  const { result } = await server.ask(tokens[login], query, { input });
  assert.deepEqual(result.userErrors, []);
  return result;
}

const post = async (login, message) => (await change(login, POST, { message })).status.id;
const button = (name) => page.getByRole('button', { name, exact: true });
const row = (message) => page.getByRole('list', { name: 'Timeline' }).getByRole('article').filter({ hasText: message });
const gone = (message) => row(message).waitFor({ state: 'detached' });
const isLive = () => page.locator('.connection[data-phase="live"]').waitFor();

async function goAs(login, path) {
  await page.goto(`${server.origin}${path}`);
  await page.getByLabel('Login', { exact: true }).fill(login);
  await page.getByLabel('Password', { exact: true }).fill(server.password);
  await button('Log in').click();
  await button('Log out').waitFor();
}

test('a tag shows its posts live, and an edit takes one out and brings it in', async () => {
  await page.goto(`${server.origin}/tag/Plumage`);
  await page.getByRole('heading', { name: '#plumage' }).waitFor();
  await page.getByText('Nothing yet. Log in above to write the first post with #plumage.').waitFor();
  const id = await post('writer', 'Red tips #plumage');
  await row('Red tips').waitFor();
  await change('writer', EDIT, { statusId: id, message: 'Red tips' });
  await gone('Red tips');
  await change('writer', EDIT, { statusId: id, message: 'Waxy tips #Plumage' });
  await row('Waxy tips').waitFor();
  await change('writer', DELETE, { statusId: id });
  await gone('Waxy tips');
});

test('a tag is followed by keyboard, its posts come into the home, and it is unfollowed there', async () => {
  await goAs('reader', '/tag/berries');
  const follow = button('Follow');
  await follow.press('Enter');
  await page.locator('.follow-tag[aria-pressed="true"]').waitFor();
  assert.match(await page.evaluate(() => document.activeElement.className), /follow-tag/, 'the button keeps the focus');
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByRole('region', { name: 'Followed tags' }).getByRole('link', { name: '#berries' }).waitFor();
  await isLive();
  await post('writer', 'Rowan #berries');
  await row('Rowan').waitFor();
  await button('Unfollow #berries').press('Enter');
  await page.getByRole('link', { name: '#berries' }).and(page.locator('.followed-tags a')).waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.className), 'followed-tags');
});

test('mentions come live, and an edit takes one out', async () => {
  await page.goto(`${server.origin}/mentions`);
  await page.getByText('Log in above to see who mentions you.').waitFor();
  await goAs('reader', '/mentions');
  await page.getByText('Nobody has mentioned you yet.').waitFor();
  const id = await post('writer', 'Look, @reader');
  await row('Look,').waitFor();
  await change('writer', EDIT, { statusId: id, message: 'Look, all' });
  await gone('Look,');
});

test('a repost comes into the home of a follower, and goes when it is undone', async () => {
  await change('reader', FOLLOW, { userId: ids.friend });
  const statusId = await post('writer', 'Worth a repost');
  await goAs('reader', '/home');
  await isLive();
  await change('friend', REPOST, { statusId });
  await row('Worth a repost').locator('.reposted-by').waitFor();
  assert.equal(await row('Worth a repost').count(), 1);
  await change('friend', UNDO, { statusId });
  await gone('Worth a repost');
});

test('reposts of a followed account are hidden on its profile', async () => {
  await change('reader', FOLLOW, { userId: ids.friend });
  await goAs('reader', '/profile/friend');
  const shown = page.getByRole('switch', { name: 'Show reposts in home' });
  assert.equal(await shown.isChecked(), true);
  assert.ok((await shown.boundingBox()).width < 30, 'the switch is as wide as its mark, beside its label');
  await shown.press('Space');
  await page.locator('input[role="switch"]:not(:checked)').waitFor();
  await page.reload();
  await shown.waitFor();
  assert.equal(await shown.isChecked(), false);
});
