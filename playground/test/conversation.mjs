// Tests conversations in Chromium: replies above and below, quotes, entities as links, bookmarks, pins and profiles.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { open } from './browser.mjs';
import { Server } from './server.mjs';

const POST = 'mutation ($input: PostStatusInput!) { result: postStatus(input: $input) { status { id } userErrors { message } } }';
const DELETE = 'mutation ($input: DeleteStatusInput!) { result: deleteStatus(input: $input) { userErrors { message } } }';
const LIKE = 'mutation ($input: LikeStatusInput!) { result: likeStatus(input: $input) { userErrors { message } } }';
const ADD = 'mutation ($input: AddCommentInput!) { result: addComment(input: $input) { userErrors { message } } }';
const EDIT = 'mutation ($input: EditStatusInput!) { result: editStatus(input: $input) { userErrors { message } } }';
const REPOST = 'mutation ($input: RepostStatusInput!) { result: repostStatus(input: $input) { userErrors { message } } }';
const STATUS = `query ($id: ID!) { node(id: $id) { ... on Status { replyPolicy replyCount quoteCount viewerHasBookmarked replyTo { status { id } } } } }`;

let server, tokens;
let browser, page, pageErrors;

before(async () => {
  server = await Server.start({ options: ['--rate-limits', 'off'] });
  tokens = Object.fromEntries(await Promise.all(['ada', 'bram', 'chiara'].map(async (login) => [login, await server.logIn(login)])));
});

after(() => server?.remove());

beforeEach(async () => {
  ({ browser, page, pageErrors } = await open(server.origin));
});

afterEach(async () => {
  await browser.close();
  assert.deepEqual(pageErrors, []);
});

async function change(login, query, input) {
  const { result } = await server.ask(tokens[login], query, { input });
  assert.deepEqual(result.userErrors, []);
  return result;
}

const post = async (login, message, input) => (await change(login, POST, { message, ...input })).status.id;
const statusOf = async (login, id) => (await server.ask(tokens[login], STATUS, { id })).node;

async function postReplies(login, parent, count) {
  const ids = [];
  for (let at = 1; at <= count; at++) ids.push(await post(login, `reply ${at}`, { replyToId: parent }));
  return ids;
}

const go = (path) => page.goto(`${server.origin}${path}`);
const button = (name) => page.getByRole('button', { name, exact: true });
const list = (name) => page.getByRole('list', { name, exact: true });
const messages = (name) => list(name).locator(':scope > li > article > .message').allInnerTexts();
const focused = () => page.evaluate(() => document.activeElement.outerHTML.slice(0, 80));
const subject = () => page.locator('.subject');

// A status within any list.
function card(message, within = page) {
  return within.getByRole('article').filter({ has: page.locator(':scope > .message').getByText(message, { exact: true }) });
}

async function logIn(login) {
  await page.getByLabel('Login', { exact: true }).fill(login);
  await page.getByLabel('Password', { exact: true }).fill(server.password);
  await button('Log in').click();
  await button('Log out').waitFor();
}

// Waits until a list has exactly these messages.
async function shows(name, expected) {
  await page.waitForFunction(
    ([name, expected]) => {
      const items = document.querySelectorAll(`ol[aria-label="${name}"] > li > article > .message`);
      return JSON.stringify([...items].map((item) => item.textContent)) === expected;
    },
    [name, JSON.stringify(expected)],
  ).catch(async () => assert.deepEqual(await messages(name), expected));
}

const numbers = (from, to) => Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => `reply ${from < to ? from + at : from - at}`);

test('a status leads to its conversation by keyboard: ancestors above, placeholders, and the rest on request', async () => {
  const chain = [await post('bram', 'root')];
  for (let at = 1; at <= 8; at++) chain.push(await post('bram', `above ${at}`, { replyToId: chain.at(-1) }));
  const last = await post('ada', 'the subject', { replyToId: chain.at(-1) });
  await change('bram', DELETE, { statusId: chain[6] });
  await go('/home');
  await logIn('ada');
  const link = card('the subject').getByRole('link', { name: '0 replies' });
  await link.focus();
  await page.keyboard.press('Enter');
  await subject().getByText('the subject').waitFor();
  assert.equal(new URL(page.url()).pathname, `/conversation/${last}`);
  assert.equal(await page.title(), 'Waxwing conversation');
  assert.match(await focused(), /class="subject"/, 'the status has the focus');
  await shows('Earlier in this conversation', ['above 4', 'above 5', 'above 7', 'above 8']);
  assert.equal(await list('Earlier in this conversation').getByText('This status is not available.').count(), 1);
  await button('Show earlier statuses').press('Enter');
  await shows('Earlier in this conversation', ['root', ...[1, 2, 3, 4, 5, 7, 8].map((at) => `above ${at}`)]);
  assert.equal(await button('Show earlier statuses').count(), 0);
  assert.match(await focused(), /class="ancestors"/);
  await page.goBack();
  await card('the subject').waitFor();
});

test('the replies are in three orders and in pages, and deeper ones open below theirs', async () => {
  const root = await post('ada', 'asked by thirty');
  const ids = await postReplies('bram', root, 30);
  await change('chiara', LIKE, { statusId: ids[16] });
  let deeper = ids[0];
  for (let at = 1; at <= 5; at++) deeper = await post('chiara', `deeper ${at}`, { replyToId: deeper });
  await go(`/conversation/${root}`);
  await shows('Replies', numbers(1, 20));
  await button('More replies').focus();
  await page.keyboard.press('Enter');
  await shows('Replies', numbers(1, 30));
  await page.waitForFunction(() => document.activeElement.textContent.includes('reply 21'), null);
  const sort = page.getByRole('combobox', { name: 'Sort by' });
  await sort.selectOption({ label: 'Newest' });
  await shows('Replies', numbers(30, 11));
  await sort.selectOption({ label: 'Most likes' });
  await shows('Replies', ['reply 17', ...numbers(30, 18), ...numbers(16, 11)]);
  await sort.selectOption({ label: 'Oldest' });
  await shows('Replies', numbers(1, 20));
  for (let at = 1; at <= 3; at++) {
    await button('Show 1 reply').press('Enter');
    await card(`deeper ${at}`).waitFor();
  }
  await page.getByRole('link', { name: 'Continue with 1 reply' }).click();
  await subject().getByText('deeper 3').waitFor();
  await shows('Earlier in this conversation', ['asked by thirty', 'reply 1', 'deeper 1', 'deeper 2']);
  await shows('Replies', ['deeper 4']);
});

test('a deleted reply stays as a placeholder while there are replies below it', async () => {
  const root = await post('ada', 'with a gap below');
  const [first, second] = await postReplies('bram', root, 2);
  await post('chiara', 'below the gap', { replyToId: first });
  await change('bram', DELETE, { statusId: first });
  await go(`/conversation/${root}`);
  await shows('Replies', ['reply 2']);
  await list('Replies').getByText('This status is not available.').waitFor();
  await button('Show 1 reply').click();
  await card('below the gap').waitFor();
  await go(`/conversation/${first}`);
  await page.getByText('This status is not available: it was deleted, or you cannot see it.').waitFor();
  await go('/home');
  await logIn('bram');
  await go(`/conversation/${root}`);
  await card('reply 2').getByRole('button', { name: 'Delete' }).click();
  await button('Delete for everybody?').click();
  await card('reply 2').waitFor({ state: 'detached' });
  assert.equal(await statusOf('ada', second), null);
});

test('the viewer replies to the status and to a reply, and Escape closes the box', async () => {
  const root = await post('ada', 'answer me');
  await post('bram', 'the first', { replyToId: root });
  await go(`/conversation/${root}`);
  await page.getByText('Log in to reply, to like, and to quote.').waitFor();
  await logIn('chiara');
  const box = page.getByRole('form', { name: 'Reply', exact: true });
  await box.getByRole('textbox', { name: 'Reply' }).fill('by chiara');
  await page.keyboard.press('Control+Enter');
  await shows('Replies', ['the first', 'by chiara']);
  // The event may come before the response, which empties the box.
  await box.locator('textarea:placeholder-shown').waitFor();
  await page.getByRole('navigation', { name: 'Below the status' }).getByRole('link', { name: '2 replies' }).waitFor();
  const reply = card('the first').getByRole('button', { name: 'Reply', exact: true });
  await reply.press('Enter');
  const inner = card('the first').getByRole('form', { name: 'Post reply' });
  await page.keyboard.press('Escape');
  await inner.waitFor({ state: 'detached' });
  assert.equal(await reply.evaluate((element) => element === document.activeElement), true, 'the button has the focus again');
  await reply.press('Enter');
  await page.keyboard.type('below the first');
  await page.keyboard.press('Control+Enter');
  await list('Replies to @bram').getByText('below the first').waitFor();
  await page.reload();
  await shows('Replies', ['the first', 'by chiara']);
  assert.equal((await statusOf('ada', root)).replyCount, 2);
});

test('replies, edits, counts and deletions of others show in place', async () => {
  const root = await post('ada', 'a moving conversation');
  const above = await post('bram', 'its first reply', { replyToId: root });
  const reply = await post('chiara', 'a reply to it', { replyToId: above });
  await go(`/conversation/${above}`);
  await shows('Replies', ['a reply to it']);
  await page.locator(".connection[data-phase='live']").waitFor();
  const last = await post('ada', 'a later reply', { replyToId: above });
  await shows('Replies', ['a reply to it', 'a later reply']);
  await page.getByRole('link', { name: '2 replies' }).waitFor();
  await page.getByText('One new reply').waitFor();
  const deeper = await post('bram', 'below the reply', { replyToId: reply });
  await button('Show 1 reply').click();
  await shows('Replies to @chiara', ['below the reply']);
  await post('ada', 'another below', { replyToId: reply });
  await shows('Replies to @chiara', ['below the reply', 'another below']);
  await button('Hide 2 replies').waitFor();
  for (const [login, statusId, message] of [['ada', root, 'edited above'], ['bram', above, 'edited itself'], ['bram', deeper, 'edited below']]) {
    await change(login, EDIT, { statusId, message });
  }
  await shows('Earlier in this conversation', ['edited above']);
  await subject().getByText('edited itself').waitFor();
  await shows('Replies to @chiara', ['edited below', 'another below']);
  await change('bram', DELETE, { statusId: deeper });
  await shows('Replies to @chiara', ['another below']);
  await button('Hide 1 reply').waitFor();
  await change('ada', DELETE, { statusId: last });
  await shows('Replies', ['a reply to it']);
  await page.getByRole('link', { name: '1 reply', exact: true }).waitFor();
  await post('chiara', 'a quote of it', { quotedStatusId: above });
  await page.getByRole('navigation', { name: 'Below the status' }).getByRole('link', { name: '1 quote' }).waitFor();
  await server.restart();
  tokens = Object.fromEntries(await Promise.all(Object.keys(tokens).map(async (login) => [login, await server.logIn(login)])));
  await post('chiara', 'after the restart', { replyToId: above });
  await shows('Replies', ['a reply to it', 'after the restart']);
  pageErrors.splice(0, Infinity, ...pageErrors.filter((text) => !/ERR_CONNECTION_REFUSED|WebSocket connection to/.test(text)));
});

test('who may reply is chosen with the post and changed afterwards', async () => {
  await go('/home');
  await logIn('ada');
  await page.getByRole('form', { name: 'Post' }).getByRole('combobox', { name: 'Who may reply' }).selectOption({ label: 'Replies: mentioned' });
  await page.getByRole('textbox', { name: 'Message' }).fill('only for @bram');
  await page.keyboard.press('Control+Enter');
  await card('only for @bram').getByText('Replies: mentioned').waitFor();
  await card('only for @bram').getByRole('link', { name: '0 replies' }).click();
  await page.getByText('No replies yet. Write the first one above.').waitFor();
  const id = page.url().split('/').at(-1);
  await subject().getByRole('combobox', { name: 'Who may reply' }).selectOption({ label: 'Replies: nobody' });
  await subject().locator('.policy').getByText('Replies: nobody').waitFor();
  assert.equal((await statusOf('ada', id)).replyPolicy, 'NOBODY');
  await button('Log out').click();
  await logIn('bram');
  await page.getByText('The author allows no replies.').waitFor();
  assert.equal(await page.getByRole('form', { name: 'Reply', exact: true }).count(), 0);
  assert.equal(await subject().getByRole('button', { name: 'Reply', exact: true }).count(), 0);
});

test('a status is quoted, shown within its quote, and its quotes are listed', async () => {
  const id = await post('bram', 'quotable');
  await go(`/conversation/${id}/quotes`);
  await page.getByText('No quotes yet. Log in above to write the first one.').waitFor();
  await logIn('ada');
  await page.getByText('No quotes yet. Press Quote below the status to write the first one.').waitFor();
  const quote = subject().getByRole('button', { name: 'Quote', exact: true });
  await quote.press('Enter');
  const form = subject().getByRole('form', { name: 'Post quote' });
  await form.waitFor();
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  assert.equal(await quote.evaluate((element) => element === document.activeElement), true);
  await quote.press('Enter');
  await page.keyboard.type('well said');
  await page.keyboard.press('Control+Enter');
  await subject().getByText('The quote was posted.').waitFor();
  await shows('Quotes', ['well said']);
  const quoted = card('well said').locator('.quoted');
  await quoted.getByText('quotable').waitFor();
  await page.getByRole('link', { name: '1 quote' }).first().waitFor();
  assert.equal((await statusOf('ada', id)).quoteCount, 1);
  await go('/home');
  await card('well said').locator('.quoted').getByText('quotable').waitFor();
  await change('bram', DELETE, { statusId: id });
  await page.reload();
  await card('well said').getByText('The quoted status is not available.').waitFor();
});

test('mentions, tags and links are links in statuses and comments, wherever an emoji stands', async () => {
  const text = '👩‍👩‍👧‍👦 @bram on #Straße: example.org/a?b=1&c=<d> & @nobody_here';
  const id = await post('ada', text);
  await change('bram', ADD, { statusId: id, message: '🐦 thanks, @ada' });
  await go(`/thread/${id}`);
  const links = (element) => element.locator('.message').getByRole('link').evaluateAll((all) => all.map((it) => [it.textContent, it.getAttribute('href')]));
  await page.locator('.comment').getByText('thanks').waitFor();
  assert.deepEqual(await links(page.locator('.subject')), [['@bram', '/profile/bram'], ['#Straße', '/tag/strasse'], ['example.org/a?b=1&c=', 'https://example.org/a?b=1&c=']]);
  assert.deepEqual(await links(page.locator('.comment')), [['@ada', '/profile/ada']]);
  assert.equal(await page.locator('.subject .message').textContent(), text);
  const outside = page.locator('.subject .message a[target=_blank]');
  assert.match(await outside.getAttribute('rel'), /noopener noreferrer nofollow/);
  await page.locator('.comment .message').getByRole('link', { name: '@ada' }).click();
  await page.getByRole('heading', { name: 'Ada Lindqvist @ada' }).waitFor();
});

test('a tag leads to its page, which moves', async () => {
  const id = await post('ada', 'about #Fußweg');
  await go(`/conversation/${id}`);
  await page.getByRole('link', { name: '#Fußweg' }).press('Enter');
  await page.getByRole('heading', { name: '#fussweg' }).waitFor();
  await page.locator(".connection[data-phase='live']").waitFor();
  for (const message of ['another tag: #weg', 'once more: #FUSSWEG']) await post('bram', message);
  await shows('Timeline', ['once more: #FUSSWEG', 'about #Fußweg']);
});

test('an edit shows in place, with its entities and its history', async () => {
  const root = await post('bram', 'to be discussed');
  const reply = await post('ada', 'befor #tpyo', { replyToId: root });
  await go(`/conversation/${reply}`);
  await logIn('ada');
  await subject().getByRole('button', { name: 'Edit' }).press('Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('after #typo');
  await page.keyboard.press('Control+Enter');
  await subject().getByRole('link', { name: '#typo' }).waitFor();
  await subject().locator('.versions summary').press('Enter');
  await subject().locator('.versions li').nth(1).waitFor();
  assert.deepEqual(await subject().locator('.versions .text').allInnerTexts(), ['befor #tpyo', 'after #typo']);
});

test('bookmarks are kept for the viewer alone, and a removed one can be set again', async () => {
  const id = await post('bram', 'worth keeping');
  await go('/bookmarks');
  await page.getByText('Log in above to see your bookmarks. No account yet?').waitFor();
  await logIn('chiara');
  await page.getByText('No bookmarks yet. Press ☆ Bookmark below a status').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Bookmarks' }).getAttribute('aria-current'), 'page');
  await go(`/conversation/${id}`);
  await subject().getByRole('button', { name: 'Bookmark', pressed: false }).press('Enter');
  await subject().getByRole('button', { name: 'Bookmark', pressed: true }).waitFor();
  assert.equal((await statusOf('bram', id)).viewerHasBookmarked, false);
  await page.getByRole('link', { name: 'Bookmarks' }).click();
  const kept = card('worth keeping', list('Bookmarks'));
  await kept.getByRole('button', { name: 'Bookmark', pressed: true }).click();
  await kept.getByRole('button', { name: 'Bookmark', pressed: false }).waitFor();
  assert.equal((await statusOf('chiara', id)).viewerHasBookmarked, false);
  await kept.getByRole('button', { name: 'Bookmark', pressed: false }).click();
  await kept.getByRole('button', { name: 'Bookmark', pressed: true }).waitFor();
});

test('a profile shows what is pinned, and statuses with or without replies and reposts', async () => {
  const other = await post('bram', 'seen elsewhere');
  await post('chiara', 'her own');
  await post('chiara', 'her reply', { replyToId: other });
  await change('chiara', REPOST, { statusId: other });
  await go('/profile/chiara');
  await card('her own').waitFor();
  const top = async (count) => (await messages('Statuses')).slice(0, count);
  assert.deepEqual(await top(3), ['seen elsewhere', 'her reply', 'her own']);
  await card('seen elsewhere').getByText('Reposted by Chiara Fontana').waitFor();
  await page.getByRole('checkbox', { name: 'Reposts' }).uncheck();
  await card('seen elsewhere').waitFor({ state: 'detached' });
  await card('her reply').waitFor();
  await page.getByRole('checkbox', { name: 'Replies' }).press('Space');
  await card('her reply').waitFor({ state: 'detached' });
  await card('her own').waitFor();
  await logIn('chiara');
  await card('her own', list('Statuses')).getByRole('button', { name: 'Pin', exact: true }).press('Enter');
  await card('her own', list('Pinned')).waitFor();
  await card('her own', list('Statuses')).getByRole('button', { name: 'Unpin' }).waitFor();
  await card('her own', list('Statuses')).getByRole('button', { name: 'Chiara Fontana' }).click();
  await page.locator('.person-panel').getByRole('link', { name: 'her own' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.person-panel').waitFor({ state: 'detached' });
  await card('her own', list('Pinned')).getByRole('button', { name: 'Unpin' }).click();
  await list('Pinned').waitFor({ state: 'detached' });
  await go('/profile/nobody_here');
  await page.getByText('There is no account @nobody_here for you.').waitFor();
});
