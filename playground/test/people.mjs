// Tests in Chromium who sees what: the cards of accounts, requests, audiences and placeholders, and the page of two people.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { open } from './browser.mjs';
import { LivePage } from './livepage.mjs';
import { PeoplePage, until } from './peoplepage.mjs';
import { Server } from './server.mjs';
import { ThreadPage } from './threadpage.mjs';

const POST = 'mutation ($input: PostStatusInput!) { result: postStatus(input: $input) { status { id } userErrors { message } } }';
const ADD = 'mutation ($input: AddCommentInput!) { result: addComment(input: $input) { comment { id } userErrors { message } } }';
const USER = `query ($login: String!) {
  user(login: $login) { id isPrivate viewerFollowState viewerFriendship viewerIsBlocking isFollowingViewer viewerHasFollowRequest }
}`;
const STATUS = 'query ($id: ID!) { node(id: $id) { ... on Status { id audience audienceList { name } } } }';
const CREATE_LIST = 'mutation ($input: CreateUserListInput!) { result: createUserList(input: $input) { userList { id } userErrors { message } } }';
const PROFILE = 'mutation ($input: UpdateProfileInput!) { result: updateProfile(input: $input) { userErrors { message } } }';
const UNBLOCK = 'mutation ($input: UnblockUserInput!) { unblockUser(input: $input) { userErrors { message } } }';

let server, tokens, ids;
let browser, page, pageErrors, live, people;

before(async () => {
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  const logins = ['ada', 'bram', 'chiara'];
  tokens = Object.fromEntries(await Promise.all(logins.map(async (login) => [login, await server.logIn(login)])));
  ids = Object.fromEntries(await Promise.all(logins.map(async (login) => [login, (await ask('ada', USER, { login })).user.id])));
});

after(() => server?.remove());

// Every test begins with accounts that are public and have no relation.
beforeEach(async () => {
  const pairs = Object.keys(ids).flatMap((one) => Object.keys(ids).flatMap((other) => (one === other ? [] : [[one, other]])));
  for (const login of Object.keys(ids)) await change(login, PROFILE, { isPrivate: false });
  // An account does not find the one that blocks it.
  for (const [one, other] of pairs) await ask(one, UNBLOCK, { input: { userId: ids[other] } });
  for (const [one, other] of pairs) {
    for (const kind of ['Block', 'Unblock', 'Unmute']) await relate(one, kind, other);
  }
  ({ browser, page, pageErrors } = await open(server.origin));
  live = new LivePage(page, server);
  people = new PeoplePage(page, server);
});

afterEach(async () => {
  await browser.close();
  assert.deepEqual(pageErrors, []);
});

const ask = (login, query, variables) => server.ask(login && tokens[login], query, variables);

async function change(login, query, input) {
  const { result } = await ask(login, query, { input });
  assert.deepEqual(result.userErrors, []);
  return result;
}

// `kind` is the name of a mutation, without its ending "User".
function relate(login, kind, other) {
  const type = /Request$|Friend$/.test(kind) ? kind : `${kind}User`;
  const field = type[0].toLowerCase() + type.slice(1);
  return change(login, `mutation ($input: ${type}Input!) { result: ${field}(input: $input) { userErrors { message } } }`, { userId: ids[other] });
}

const post = async (login, message, input) => (await change(login, POST, { message, ...input })).status.id;
const comment = async (login, message, under) => (await change(login, ADD, { message, ...under })).comment.id;
const standing = async (login, other) => (await ask(login, USER, { login: other })).user;

// Opens the card of an author on the public stream.
async function openCard(message) {
  const button = live.card(message).locator('header').getByRole('button', { expanded: false });
  await button.click();
  const card = live.card(message).locator('.person');
  await card.waitFor();
  return card;
}

const pressed = (card, name) => card.getByRole('button', { name, exact: true });

test('the card of an author shows the account, follows, befriends, mutes and blocks it, and Escape closes it', async () => {
  await live.load();
  await live.logIn('ada', server.password);
  await live.followed();
  await post('bram', 'who am I');
  await live.upTo('who am I');
  const card = await openCard('who am I');
  await pressed(card, 'Follow').click();
  await card.getByText('You follow this account').waitFor();
  assert.equal((await standing('ada', 'bram')).viewerFollowState, 'FOLLOWING');
  // The removed button leaves the focus within the card.
  assert.equal(await card.evaluate((card) => card.contains(document.activeElement)), true);
  await pressed(card, 'Unfollow').click();
  await pressed(card, 'Follow').waitFor();
  await pressed(card, 'Befriend').click();
  await card.getByText('You sent a friend request').waitFor();
  assert.equal((await standing('bram', 'ada')).viewerFriendship, 'REQUEST_RECEIVED');
  await pressed(card, 'Withdraw friend request').click();
  await pressed(card, 'Mute for an hour').click();
  await card.getByText(/^Muted in your home and lists until \d/).waitFor();
  await pressed(card, 'Unmute').click();
  await pressed(card, 'Mute for an hour').waitFor();
  await pressed(card, 'Block').click();
  assert.equal((await standing('ada', 'bram')).viewerIsBlocking, false, 'a block is confirmed first');
  await card.getByRole('button', { name: 'Block, and end follows and friendship?' }).click();
  await card.getByText(/^Blocked:/).waitFor();
  assert.equal(await standing('bram', 'ada'), null);
  await pressed(card, 'Unblock').click();
  await pressed(card, 'Block').waitFor();
  await page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
  const name = live.card('who am I').getByRole('button', { name: 'Bram de Vries' });
  assert.equal(await name.evaluate((button) => button === document.activeElement), true);
});

test('Escape closes a card before the thread around it, wherever the focus is', async () => {
  const status = await post('bram', 'with a thread');
  const thread = new ThreadPage(page, server);
  await thread.open(status);
  const subject = thread.panel.locator('.subject');
  await subject.getByRole('button', { name: 'Bram de Vries' }).click();
  await subject.getByText('Log in to follow, befriend, mute or block.').waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Escape');
  await subject.locator('.person').waitFor({ state: 'detached' });
  await thread.panel.waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('Escape');
  await thread.panel.waitFor({ state: 'detached' });
});

test('a private account is asked, and accepts or rejects requests beside the public stream', async () => {
  await live.load();
  await live.logIn('ada', server.password);
  await page.getByRole('region', { name: 'Your account' }).getByText('Nobody waits for your answer.').waitFor();
  await page.getByRole('switch', { name: 'Private account' }).click();
  await page.getByRole('switch', { name: 'Private account', checked: true }).waitFor();
  assert.equal((await standing('bram', 'ada')).isPrivate, true);
  await relate('bram', 'Follow', 'ada');
  await relate('chiara', 'RequestFriend', 'ada');
  await live.button('Refresh').click();
  await live.button('Accept follow request of Bram de Vries').click();
  await live.button('Accept follow request of Bram de Vries').waitFor({ state: 'detached' });
  assert.equal((await standing('bram', 'ada')).viewerFollowState, 'FOLLOWING');
  await live.button('Reject friend request of Chiara Fontana').click();
  await page.getByText('Nobody waits for your answer.').waitFor();
  assert.equal((await standing('chiara', 'ada')).viewerFriendship, 'NONE');
});

test('a request to follow a private account can be withdrawn, and a follower removed', async () => {
  await post('bram', 'soon private');
  await live.load();
  await live.logIn('ada', server.password);
  await live.followed();
  await post('bram', 'now private');
  await live.upTo('now private');
  await change('bram', PROFILE, { isPrivate: true });
  await relate('bram', 'Follow', 'ada');
  const card = await openCard('now private');
  await card.getByText('Private', { exact: true }).waitFor();
  await pressed(card, 'Ask to follow').click();
  await card.getByText('You asked to follow').waitFor();
  assert.equal((await standing('bram', 'ada')).viewerHasFollowRequest, true);
  await pressed(card, 'Withdraw follow request').click();
  await pressed(card, 'Ask to follow').waitFor();
  await pressed(card, 'Remove follower').click();
  await pressed(card, 'Remove follower').waitFor({ state: 'detached' });
  assert.equal((await standing('ada', 'bram')).isFollowingViewer, false);
});

test('the audience is chosen in the post box, marked at the status, and changed at one’s own statuses', async () => {
  await change('ada', CREATE_LIST, { name: 'Choir' });
  await live.load('/home');
  await live.logIn('ada', server.password);
  await live.followed();
  const menu = page.getByRole('form', { name: 'Post' }).getByRole('combobox', { name: 'Audience' });
  await menu.getByRole('option', { name: 'Choir' }).waitFor({ state: 'attached' });
  for (const [label, mark] of [['Public', null], ['Followers', 'Followers'], ['Friends', 'Friends'], ['Choir', 'Members of Choir']]) {
    await menu.selectOption({ label });
    await live.message.fill(`for ${label}`);
    await live.button('Post').click();
    await live.upTo(`for ${label}`);
    const marks = await live.card(`for ${label}`).locator('.audience').allInnerTexts();
    assert.deepEqual(marks.map((text) => text.replace('Audience:', '').trim()), mark ? [mark] : []);
  }
  const card = live.card('for Friends');
  await card.getByRole('combobox', { name: 'Audience' }).selectOption({ label: 'Choir' });
  await card.locator('.audience').getByText('Members of Choir').waitFor();
  const id = await card.getAttribute('data-id');
  assert.deepEqual((await ask('ada', STATUS, { id })).node, { id, audience: 'LIST', audienceList: { name: 'Choir' } });
  await card.getByRole('combobox', { name: 'Audience' }).selectOption({ label: 'Public' });
  await card.locator('.audience').waitFor({ state: 'detached' });
  assert.equal((await ask(null, STATUS, { id })).node.audience, 'PUBLIC');
});

test('the home leaves out who was muted in it, and the focus stays in the list', async () => {
  await relate('ada', 'Follow', 'bram');
  await post('bram', 'too loud');
  await live.load('/home');
  await live.logIn('ada', server.password);
  await live.upTo('too loud');
  await live.followed();
  const card = await openCard('too loud');
  await pressed(card, 'Mute for an hour').press('Enter');
  await live.card('too loud').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.className), 'timeline');
});

test('a thread has placeholders for comments that a block hides, with their replies, and events too', async () => {
  const status = await post('chiara', 'who is here', { audience: 'FOLLOWERS' });
  await relate('ada', 'Follow', 'chiara');
  await relate('bram', 'Follow', 'chiara');
  const before = await comment('bram', 'said before the block', { statusId: status });
  await comment('chiara', 'a reply to it', { parentId: before });
  const thread = new ThreadPage(page, server);
  await live.load('/home');
  await live.logIn('ada', server.password);
  await page.goto(`${server.origin}/thread/${status}`);
  await thread.shows(['0 said before the block', '1 a reply to it']);
  await thread.phase('live');
  await thread.comment('said before the block').getByRole('button', { name: 'Bram de Vries' }).click();
  const card = thread.panel.locator('.person');
  await pressed(card, 'Block').click();
  await card.getByRole('button', { name: 'Block, and end follows and friendship?' }).click();
  const hidden = 'Comment by an account that you blocked or that blocked you.';
  await thread.shows([`0 ${hidden}`, '1 a reply to it']);
  const placeholder = thread.comment(hidden);
  assert.equal(await placeholder.locator('.name, .votes').count(), 0);
  assert.equal(await placeholder.getByRole('button', { name: 'Reply' }).count(), 0);
  await thread.phase('live');
  await comment('bram', 'said after the block', { statusId: status });
  await thread.panel.locator('.comments-list > .comment').nth(1).waitFor();
  assert.deepEqual((await thread.shown()).toSorted(), [`0 ${hidden}`, `0 ${hidden}`, '1 a reply to it']);
});

test('two people: what one does, the other sees, and the session of the browser stays as it is', async () => {
  await people.begin();
  assert.equal(await page.getByRole('button', { name: 'Log in as ada' }).count(), 1, 'nobody is logged in above');
  await people.button('ada', 'Befriend').click();
  await people.relation('bram', ['Sent you a friend request']);
  await people.requests('bram').getByRole('button', { name: 'Accept friend request of Ada Lindqvist' }).click();
  for (const login of ['ada', 'bram']) await people.relation(login, ['You follow this account', 'Follows you', 'Friends']);
  assert.equal((await standing('ada', 'bram')).viewerFriendship, 'FRIENDS');
  await people.button('bram', 'Unfriend').click();
  await people.card('bram').getByRole('button', { name: 'End friendship and both follows?' }).click();
  await people.relation('ada', []);
  await people.side('ada').getByRole('switch', { name: 'Private account' }).click();
  await people.button('bram', 'Ask to follow').click();
  await people.requests('ada').getByRole('button', { name: 'Reject follow request of Bram de Vries' }).click();
  await people.button('bram', 'Ask to follow').waitFor();
  await page.reload();
  await people.live();
  assert.equal(await people.side('ada').getByRole('switch', { name: 'Private account' }).isChecked(), true);
  await people.side('ada').getByRole('button', { name: 'Log out ada' }).click();
  await page.getByRole('form', { name: 'Log in the first person' }).waitFor();
});

test('two people: each status has a table of who sees it, and by which rule', async () => {
  await change('ada', CREATE_LIST, { name: 'Circle of ada' });
  // The page shows the latest five.
  for (const message of ['earlier', 'early']) await post('ada', message);
  await people.begin();
  const stranger = 'does not see: FOLLOWERS: not a follower';
  await people.post('ada', 'to everyone');
  await people.seen('ada', 'to everyone', ['sees: public', 'sees: public']);
  await people.post('ada', 'to followers', 'Followers');
  await people.post('ada', 'to friends', 'Friends');
  await people.seen('ada', 'to followers', [stranger, 'does not see: FOLLOWERS: logged out']);
  await people.seen('ada', 'to friends', ['does not see: FRIENDS: not a friend', 'does not see: FRIENDS: logged out']);
  await people.side('bram').getByText('2 of the latest statuses of @ada are not shown here.').waitFor();
  await people.button('bram', 'Follow').click();
  await people.status('bram', 'to followers').waitFor();
  await people.seen('ada', 'to followers', ['sees: FOLLOWERS: is a follower', 'does not see: FOLLOWERS: logged out']);
  await people.status('ada', 'to friends').getByRole('combobox', { name: 'Audience' }).selectOption({ label: 'Circle of ada' });
  await people.seen('ada', 'to friends', ['does not see: LIST: not a member', 'does not see: LIST: logged out']);
  await people.side('ada').getByRole('checkbox', { name: 'Bram de Vries is on Circle of ada' }).click();
  await people.seen('ada', 'to friends', ['sees: LIST: member', 'does not see: LIST: logged out']);
  await people.status('bram', 'to friends').waitFor();
  await people.side('ada').getByRole('switch', { name: 'Private account' }).click();
  await people.seen('ada', 'to everyone', ['sees: private account: is a follower', 'does not see: private account: logged out']);
  await people.button('bram', 'Block').click();
  await people.card('bram').getByRole('button', { name: 'Block, and end follows and friendship?' }).click();
  for (const [message, rule] of [['to everyone', 'private account'], ['to followers', 'FOLLOWERS'], ['to friends', 'LIST']]) {
    await people.seen('ada', message, ['does not see: blocked', `does not see: ${rule}: logged out`]);
    await people.status('bram', message).waitFor({ state: 'detached' });
  }
  await people.side('ada').getByText('No account @bram exists for ada').waitFor();
  assert.equal(await page.getByText('the server decides otherwise').count(), 0);
});

test('two people: a change during a read is shown after it', async () => {
  await people.begin();
  const operation = (request) => request.postDataJSON()?.operationName;
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.route('**/graphql', async (route) => {
    if (operation(route.request()) === 'PeopleSide') await held;
    await route.fallback();
  });
  const reading = page.waitForRequest((request) => operation(request) === 'PeopleSide');
  await people.button('ada', 'Befriend').click();
  await reading;
  const followed = page.waitForResponse((response) => operation(response.request()) === 'PersonFollow');
  await people.button('bram', 'Follow').click();
  await (await followed).finished();
  release();
  await people.relation('bram', ['You follow this account', 'Sent you a friend request']);
  await people.relation('ada', ['Follows you', 'You sent a friend request']);
});

test('two people: statuses that are posted elsewhere appear by subscription', async () => {
  await relate('bram', 'Follow', 'ada');
  await people.begin();
  const id = await post('ada', 'from another device', { audience: 'FOLLOWERS' });
  await people.status('bram', 'from another device').waitFor();
  await people.seen('ada', 'from another device', ['sees: FOLLOWERS: is a follower', 'does not see: FOLLOWERS: logged out']);
  await change('ada', 'mutation ($input: DeleteStatusInput!) { result: deleteStatus(input: $input) { userErrors { message } } }', { statusId: id });
  await people.status('bram', 'from another device').waitFor({ state: 'detached' });
  await people.status('ada', 'from another device').waitFor({ state: 'detached' });
});

test('two people: the end of a session by another device asks for a log-in on that side', async () => {
  await people.begin();
  const end = 'mutation { result: endSessions(input: { allOthers: true }) { userErrors { message } } }';
  await ask('bram', end, {});
  const form = page.getByRole('form', { name: 'Log in the second person' });
  await form.getByText('The session has ended. Log in again.').waitFor();
  await people.side('ada').getByText('Log in the other person too.').waitFor();
  await form.getByLabel('Login').fill('bram');
  await form.getByLabel('Password').fill(server.password);
  await form.getByRole('button', { name: 'Log in' }).click();
  await people.live();
  // Chromium logs every 401.
  assert.ok(pageErrors.splice(0).every((text) => /status of 401/.test(text)));
});

test('two people on a phone: one is shown at a time', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await people.load();
  await page.getByRole('button', { name: 'Log in ada and bram' }).click();
  await people.side('ada').waitFor();
  assert.equal(await people.side('bram').count(), 0, 'hidden from all');
  await page.getByRole('radio', { name: 'Bram de Vries' }).check({ force: true });
  await people.side('bram').waitFor();
  await people.side('ada').waitFor({ state: 'detached' });
});

test('two people of an empty store sign up, and are told what to do first', async () => {
  const empty = await Server.start({ demo: false, options: ['--rate-limits', 'off'] });
  const other = await open(empty.origin);
  try {
    await other.page.goto(`${empty.origin}/people`);
    for (const [title, login] of [['first', 'anna'], ['second', 'anna'], ['second', 'bo']]) {
      const form = other.page.getByRole('form', { name: `Log in the ${title} person` });
      await form.getByLabel('Login').fill(login);
      await form.getByLabel('Password').fill('correct horse');
      await form.getByRole('button', { name: title === 'second' && login === 'anna' ? 'Log in' : 'Sign up' }).click();
      if (title === 'first') await other.page.getByText('Log in the other person too.').waitFor();
      else if (login === 'anna') await form.getByText('This account is the other person already').waitFor();
    }
    const side = other.page.getByRole('region', { name: 'anna (anna)' });
    await side.getByText('Nothing to see yet. Write the first post above.').waitFor();
    await side.getByRole('button', { name: 'Create the list “Circle”' }).click();
    await side.getByRole('checkbox', { name: 'bo is on Circle' }).click();
    await until('true', async () => String(await side.getByRole('checkbox', { name: 'bo is on Circle' }).isChecked()));
    assert.deepEqual(other.pageErrors, []);
  } finally {
    await other.browser.close();
    await empty.remove();
  }
});
