// No page of the app has a violation that axe calls serious: logged out and logged in, on a desktop and a phone, light and dark.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { open } from './browser.mjs';
import { Server } from './server.mjs';

const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const SERIOUS = ['serious', 'critical'];
// The nesting of GraphiQL's tabs and the scrolling of its editors are the library's. No other rule is disabled.
const OF_GRAPHIQL = ['nested-interactive', 'scrollable-region-focusable'];
const HOME = '{ homeTimeline { entries(first: 50) { edges { node { status { id commentCount } } } } } }';
const CAMPAIGN = '{ viewerCampaigns(first: 1) { edges { node { id } } } }';

let server, status, campaign, conversation, chat;

before(async () => {
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  const ada = await server.logIn();
  const { homeTimeline } = await server.ask(ada, HOME);
  const statuses = homeTimeline.entries.edges.map(({ node }) => node.status);
  // The demo has data for every route.
  status = statuses.toSorted((one, other) => other.commentCount - one.commentCount)[0];
  assert.ok(status.commentCount > 0, 'the demo has comments');
  const { viewerCampaigns } = await server.ask(ada, CAMPAIGN);
  campaign = viewerCampaigns.edges[0]?.node.id;
  assert.ok(campaign, 'the demo has a campaign');
  await server.ask(ada, 'mutation { postStatus(input: { message: "For friends.", audience: FRIENDS }) { status { id } } }');
  conversation = await postConversation(ada, await server.logIn('bram'));
  chat = await makeGroup(ada, await server.logIn('bram'));
  const signUp = 'mutation ($input: SignUpInput!) { signUp(input: $input) { session { token } } }';
  await server.ask(null, signUp, { input: { login: 'mailed', name: 'Mailed', password: 'correct horse battery', email: 'mailed@example.org' } });
  const addEmail = 'mutation ($password: String!) { changeEmail(input: { email: "ada@example.org", password: $password }) { userErrors { message } } }';
  await server.ask(ada, addEmail, { password: server.password });
  const { viewer } = await server.ask(ada, '{ viewer { id } }');
  const befriend = 'mutation ($input: RequestFriendInput!) { requestFriend(input: $input) { userErrors { message } } }';
  await server.ask(await server.logIn('bram'), befriend, { input: { userId: viewer.id } });
});

// A status with one above it, replies, a deleted one among them, and a quote. It is bookmarked and pinned.
async function postConversation(ada, bram) {
  const post = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } } }';
  const send = async (token, message, input) => (await server.ask(token, post, { input: { message, ...input } })).postStatus.status.id;
  const above = await send(bram, 'Where do #waxwings winter? See example.org, @ada.');
  const subject = await send(ada, 'Ask @bram, who knows.', { replyToId: above, replyPolicy: 'FOLLOWED' });
  const deleted = await send(ada, 'A reply.', { replyToId: subject });
  await send(ada, 'Below it.', { replyToId: deleted });
  await send(ada, 'Another reply.', { replyToId: subject });
  await send(bram, 'A quote.', { quotedStatusId: subject });
  await server.ask(ada, 'mutation ($id: ID!) { deleteStatus(input: { statusId: $id }) { deletedStatusId } }', { id: deleted });
  const marks = 'mutation ($id: ID!) { bookmarkStatus(input: { statusId: $id }) { status { id } } pinStatus(input: { statusId: $id }) { user { id } } }';
  await server.ask(ada, marks, { id: subject });
  return subject;
}

// A group with lines about its members, texts of two accounts, a reply, an edited and a deleted text, and reactions.
async function makeGroup(ada, bram) {
  const { user } = await server.ask(ada, '{ user(login: "bram") { id } }');
  const create = 'mutation ($input: CreateGroupChatInput!) { createGroupChat(input: $input) { chat { id } } }';
  const { chat } = (await server.ask(ada, create, { input: { name: 'Bird watchers', userIds: [user.id] } })).createGroupChat;
  await server.ask(bram, 'mutation ($id: ID!) { acceptChatRequest(input: { chatId: $id }) { chat { id } } }', { id: chat.id });
  const send = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { chatMessage { id } } }';
  const say = async (token, text, input) => (await server.ask(token, send, { input: { chatId: chat.id, text, ...input } })).sendMessage.chatMessage.id;
  const [first, second] = [await say(ada, 'Who has seen a waxwing?'), await say(bram, 'Too early in the year.')];
  await server.ask(ada, 'mutation ($id: ID!) { deleteMessage(input: { messageId: $id }) { chatMessage { id } } }', { id: second });
  await say(bram, 'I have.', { replyToId: first });
  const marks = `mutation ($id: ID!) {
    editMessage(input: { messageId: $id, text: "Who has seen a waxwing yet?" }) { chatMessage { id } }
    reactToMessage(input: { messageId: $id, emoji: "👍" }) { chatMessage { id } }
  }`;
  await server.ask(ada, marks, { id: first });
  await server.ask(bram, 'mutation ($id: ID!) { reactToMessage(input: { messageId: $id, emoji: "🎉" }) { chatMessage { id } } }', { id: first });
  await server.ask(ada, 'mutation ($id: ID!) { renameChat(input: { chatId: $id, name: "Waxwing watchers" }) { chat { id } } }', { id: chat.id });
  return chat.id;
}

after(() => server?.remove());

// The routes, and an element that each has when it is loaded.
const parts = () => [
  ['/', (page) => page.getByRole('button', { name: /^Execute/ })],
  ['/home', (page, isIn) => (isIn ? page.getByRole('article').first() : page.getByText('Log in above to see your home.'))],
  ['/live', (page) => page.getByText('Nothing yet.')],
  [`/thread/${status.id}`, openThread],
  [`/conversation/${conversation}`, openConversation],
  [`/conversation/${conversation}/quotes`, (page) => page.getByText('A quote.')],
  ['/tag/waxwings', (page) => page.getByRole('heading', { name: '#waxwings' })],
  ['/profile/ada', (page) => page.getByRole('list', { name: 'Statuses' }).getByRole('article').first()],
  ['/mentions', (page, isIn) => (isIn ? page.getByText('See example.org') : page.getByText('Log in above to see who mentions you.'))],
  ['/bookmarks', (page, isIn) => (isIn ? page.getByText('Ask @bram') : page.getByText('Log in above to see your bookmarks.'))],
  [`/ads#campaign=${campaign}`, (page, isIn) => (isIn ? page.getByRole('region', { name: 'Figures', exact: true }) : page.getByText('Log in above to see your campaigns'))],
  ['/ads#campaign=new', (page, isIn) => (isIn ? page.getByRole('form', { name: 'Create campaign' }) : page.getByText('Log in above to see your campaigns'))],
  ['/ads#side=publisher', (page) => page.getByRole('heading', { name: 'Try a slot' })],
  ['/people', beginPeople],
  ['/chat', openNewChat],
  ['/chat', openSettings],
  [`/chat/${encodeURIComponent(chat)}`, openChat],
  ['/sign-up', openSignUp],
  ['/account', openAccount],
  ['/forgot-password', openForgotPassword],
  ['/reset-password#token=unknown', (page) => page.getByRole('form', { name: 'Choose a new password' })],
  ['/confirm-email#token=unknown', (page) => page.getByRole('alert').filter({ hasText: 'invalid' })],
  ['/outbox', (page) => page.getByRole('article').filter({ hasText: 'mailed@example.org' })],
  ['/home/nothing/here', (page) => page.getByRole('heading', { name: 'There is no such page' })],
];

for (const [screen, viewport] of Object.entries(SCREENS)) {
  for (const colorScheme of ['light', 'dark']) {
    test(`${screen}, ${colorScheme}: axe finds no serious violation, and nothing overflows the page`, async () => {
      const { browser, page } = await open(server.origin, { viewport, colorScheme });
      try {
        for (const isIn of [false, true]) {
          if (isIn) await logIn(page);
          for (const [path, shown] of parts()) {
            // A change of the fragment alone would not load the page again.
            await page.goto('about:blank');
            await page.goto(`${server.origin}${path}`);
            await (await shown(page, isIn)).waitFor();
            assert.deepEqual(await serious(page), [], `${path}, logged ${isIn ? 'in' : 'out'}`);
            assert.deepEqual(await page.evaluate(tooWide), [], `${path}, logged ${isIn ? 'in' : 'out'}`);
          }
        }
      } finally {
        await browser.close();
      }
    });
  }
}

// Logged out: the page before its first action. Logged in: both people, with a request, a friend's status and the tables.
async function beginPeople(page, isIn) {
  const begin = page.getByRole('button', { name: 'Log in ada and bram' });
  if (!isIn) return begin;
  await begin.click();
  const side = page.getByRole('region', { name: /\(ada\)$/ });
  await side.locator('.audience').first().waitFor();
  await side.getByRole('table').first().waitFor();
  return side.getByRole('button', { name: /^Accept friend request of/ });
}

// With replies below the deleted one, and with boxes to reply and to quote.
async function openConversation(page, isIn) {
  await page.getByRole('button', { name: 'Show 1 reply' }).click();
  if (!isIn) return page.getByText('Below it.');
  await page.getByText('Below it.').waitFor();
  const reply = page.getByRole('article').filter({ hasText: 'Another reply.' });
  await reply.getByRole('button', { name: 'Reply', exact: true }).click();
  await page.locator('.subject').getByRole('button', { name: 'Quote', exact: true }).click();
  return page.locator('.subject').getByRole('form', { name: 'Post quote' });
}

// With the forms that begin a chat.
async function openNewChat(page, isIn) {
  if (!isIn) return page.getByText('Log in above to see your chats.');
  await page.getByRole('link', { name: 'Waxwing watchers' }).waitFor();
  await page.getByRole('button', { name: 'New chat' }).click();
  return page.getByRole('form', { name: 'Create a group' });
}

// With the viewer's settings.
async function openSettings(page, isIn) {
  if (!isIn) return page.getByText('Log in above to see your chats.');
  await page.getByRole('button', { name: 'Settings', exact: true }).click();
  return page.getByRole('switch', { name: 'Read receipts' });
}

// With the details, a reply that is being written, and the emoji.
async function openChat(page, isIn) {
  if (!isIn) return page.getByText('Log in above to see your chats.');
  const row = page.locator('.text-row').filter({ hasText: 'I have.' });
  await page.getByRole('button', { name: 'Details' }).click();
  await page.getByRole('form', { name: 'Delete messages' }).waitFor();
  await row.hover();
  await row.getByRole('button', { name: 'Reply', exact: true }).click();
  await row.hover();
  await row.getByRole('button', { name: 'React', exact: true }).click();
  await page.getByRole('button', { name: 'Cancel reply' }).waitFor();
  return page.getByRole('group', { name: 'Emoji' });
}

// With errors at the fields.
async function openSignUp(page, isIn) {
  if (isIn) return page.getByRole('heading', { name: 'You have an account' });
  const form = page.getByRole('form', { name: 'Sign up' });
  for (const label of ['Login', 'Password', 'E-mail (optional)']) await form.getByLabel(label, { exact: true }).fill('a b');
  await form.getByRole('button').click();
  return form.getByRole('alert').filter({ hasText: /./ }).first();
}

// With a pending address, the form that removes it, and an error.
async function openAccount(page, isIn) {
  if (!isIn) return page.getByText('Log in above to see your account.');
  await page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').first().waitFor();
  await page.getByText('Remove your address').click();
  const form = page.getByRole('form', { name: 'Change password' });
  for (const label of ['Current password', 'New password']) await form.getByLabel(label, { exact: true }).fill('short');
  await form.getByRole('button').click();
  return form.getByRole('alert').filter({ hasText: /./ }).first();
}

// With its answer.
async function openForgotPassword(page) {
  const form = page.getByRole('form', { name: 'Forgot your password?' });
  await form.getByLabel('E-mail').fill('nobody@example.org');
  await form.getByRole('button').click();
  return page.getByRole('status').filter({ hasText: 'nobody@example.org' });
}

// With the card of the author.
async function openThread(page) {
  await page.getByRole('list', { name: 'Comments' }).getByRole('article').first().waitFor();
  await page.locator('.subject .name').click();
  return page.locator('.subject .person');
}

async function logIn(page) {
  await page.getByLabel('Login', { exact: true }).fill(server.login);
  await page.getByLabel('Password', { exact: true }).fill(server.password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: 'Log out' }).waitFor();
}

async function serious(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const isTheirs = ({ id, nodes }) => OF_GRAPHIQL.includes(id) && nodes.every(({ html }) => /graphiql-tab|CodeMirror-scroll/.test(html));
  const found = violations.filter((it) => SERIOUS.includes(it.impact) && !isTheirs(it));
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ''}`).slice(0, 6).join(' | ')}`);
}

// Runs in the page. Elements with their own scrolling may be wide.
function tooWide() {
  const scrolls = (element) => element.closest('.scrolled, .graphiql-page, nav');
  const over = [...document.querySelectorAll('body *')].filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element));
  return over.map(({ outerHTML }) => outerHTML.slice(0, 80));
}
