// Tests threads in Chromium: comments, votes and deletions of others and of the viewer appear in their place, and no event is lost or repeated when the
// server fails. Two servers share one Redis, as in timeline.mjs.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { open } from './browser.mjs';
import { LivePage } from './livepage.mjs';
import { Redis } from './redis.mjs';
import { Server } from './server.mjs';
import { ThreadPage } from './threadpage.mjs';

// The number of events that the server keeps for a thread.
const KEPT = 1_000;
const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } } }';
const ADD = 'mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } userErrors { message } } }';
const EDIT = 'mutation ($input: EditCommentInput!) { editComment(input: $input) { comment { id } userErrors { message } } }';
const DELETE = 'mutation ($input: DeleteCommentInput!) { deleteComment(input: $input) { removedCount userErrors { message } } }';
const VOTE = 'mutation ($input: VoteCommentInput!) { voteComment(input: $input) { comment { score } userErrors { message } } }';
const DELETE_STATUS = 'mutation ($input: DeleteStatusInput!) { deleteStatus(input: $input) { deletedStatusId } }';
const SCORE = 'query ($id: ID!) { node(id: $id) { ... on Comment { score viewerVote } } }';
const LIKES = 'query ($id: ID!) { node(id: $id) { ... on Status { likeCount } } }';
const OTHERS = '{ viewer { following(first: 1) { edges { node { login } } } } }';

let redis, server, other, ada, friend, friendLogin;
let browser, page, pageErrors, live, thread, status;

before(async () => {
  redis = await Redis.start();
  const options = ['--rate-limits', 'off'];
  server = await Server.start({ redis, options });
  other = await Server.start({ redis, options });
  ada = await other.logIn();
  friendLogin = (await other.ask(ada, OTHERS)).viewer.following.edges[0].node.login;
  friend = await other.logIn(friendLogin);
});

after(async () => {
  await server?.remove();
  await other?.remove();
  await redis?.remove();
});

beforeEach(async () => {
  ({ browser, page, pageErrors } = await open(server.origin));
  live = new LivePage(page, server);
  thread = new ThreadPage(page, server);
  status = (await other.ask(ada, POST, { input: { message: 'What is talked about' } })).postStatus.status.id;
});

// The only errors in the console are those of a server that does not run.
afterEach(async () => {
  await browser.close();
  const expected = /ERR_CONNECTION_REFUSED|WebSocket connection to .* failed|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED/;
  assert.deepEqual(pageErrors.filter((text) => !expected.test(text)), []);
});

async function change(token, query, input) {
  const [result] = Object.values(await other.ask(token, query, { input }));
  assert.deepEqual(result.userErrors, []);
  return result;
}

const say = async (message, under = { statusId: status }, token = friend) => (await change(token, ADD, { ...under, message })).comment.id;
const reply = (message, parentId, token) => say(message, { parentId }, token);
const vote = (commentId, vote, token = friend) => change(token, VOTE, { commentId, vote });
const remove = (commentId, withReplies = false, token = friend) => change(token, DELETE, { commentId, withReplies });
const logIn = async (login = server.login) => {
  await live.logIn(login, server.password);
  await live.phase('live');
  await thread.followed();
};

test('a card and a link open a thread, and a reload keeps it open', async () => {
  await live.load();
  await live.followed();
  status = (await other.ask(ada, POST, { input: { message: 'On the card' } })).postStatus.status.id;
  await say('said before');
  await live.card('On the card').getByRole('button', { name: '0 comments' }).click();
  await thread.shows(['0 said before']);
  const button = live.card('On the card').getByRole('button', { name: '1 comment', exact: true });
  assert.equal(await button.getAttribute('aria-expanded'), 'true');
  assert.equal(await thread.panel.locator('.subject .message').innerText(), 'On the card');
  await page.reload();
  await thread.shows(['0 said before']);
  await thread.button('said before', 'Reply').waitFor({ state: 'hidden' });
  await thread.panel.getByRole('button', { name: 'Close' }).click();
  await thread.panel.waitFor({ state: 'hidden' });
  assert.equal(new URL(page.url()).hash, '');
  await page.goBack();
  await thread.shows(['0 said before']);
});

test('a reply of another account appears in its place, as text, and the scroll position is kept', async () => {
  const ids = [];
  for (let at = 1; at <= 30; at++) ids.push(await say(`comment ${at}`));
  await thread.open(status);
  const read = thread.comment('comment 15');
  await read.evaluate((element) => element.scrollIntoView());
  const place = await read.boundingBox();
  const markup = '<img src=x onerror="document.title=1"> <b>bold</b>';
  await reply(markup, ids[24]);
  await say('on top');
  await thread.panel.getByRole('button', { name: '2 new' }).waitFor();
  const expected = ids.map((_, at) => `0 comment ${at + 1}`).toReversed();
  expected.splice(expected.indexOf('0 comment 25') + 1, 0, `1 ${markup}`);
  await thread.shows(['0 on top', ...expected]);
  assert.ok(Math.abs((await read.boundingBox()).y - place.y) < 1);
  assert.equal(await thread.list.locator('b, img').count(), 0);
  await thread.panel.getByRole('button', { name: '2 new' }).click();
  await thread.comment('on top').and(page.locator(':focus')).waitFor();
  assert.match(await thread.panel.locator('.total').innerText(), /^32$/);
});

test('an edit and a vote of another account appear without a change of the order', async () => {
  const first = await say('first');
  await say('second');
  await thread.open(status);
  await thread.score('first', 0);
  await vote(first, 'UP');
  await thread.score('first', 1);
  await vote(first, 'DOWN');
  await thread.score('first', '-1');
  await vote(first, 'UP', ada);
  await change(friend, EDIT, { commentId: first, message: 'first, mended' });
  await thread.shows(['0 second', '0 first, mended']);
  await thread.comment('first, mended').locator('.edited').waitFor();
  await thread.score('first, mended', 0);
});

test('a deleted comment with replies stays as a tombstone until its last reply is deleted', async () => {
  const top = await say('to be deleted');
  const below = await reply('below', top);
  const lowest = await reply('lowest', below);
  const branch = await say('a branch');
  await reply('a twig', branch);
  await thread.open(status);
  await thread.shows(['0 a branch', '1 a twig', '0 to be deleted', '1 below', '2 lowest']);
  await remove(top);
  await thread.shows(['0 a branch', '1 a twig', '0 This comment was deleted.', '1 below', '2 lowest']);
  await remove(branch, true, ada);
  await thread.shows(['0 This comment was deleted.', '1 below', '2 lowest']);
  await remove(below);
  await thread.shows(['0 This comment was deleted.', '1 This comment was deleted.', '2 lowest']);
  await remove(lowest);
  await thread.shows([]);
  await thread.panel.getByText('No comments yet.').waitFor();
});

test('a branch collapses and expands by mouse and keyboard, and shows the number of hidden comments', async () => {
  const top = await say('top');
  const below = await reply('below', top);
  await reply('lowest', below);
  await thread.open(status);
  await thread.comment('lowest').waitFor();
  await thread.button('top', 'Collapse').click();
  await thread.comment('below').waitFor({ state: 'hidden' });
  await reply('meanwhile', below);
  const expand = thread.button('top', 'Expand 3');
  await expand.waitFor();
  assert.equal(await expand.getAttribute('aria-expanded'), 'false');
  await expand.press('Enter');
  await thread.comment('meanwhile').waitFor();
  assert.equal(await thread.button('top', 'Collapse').getAttribute('aria-expanded'), 'true');
});

test('the viewer comments, replies, votes, edits and deletes', async () => {
  const theirs = await say('theirs');
  await thread.open(status);
  await logIn();
  await thread.write(thread.box, 'mine');
  await thread.shows(['0 mine', '0 theirs']);
  await thread.button('theirs', 'Reply').click();
  const form = thread.comment('theirs').getByRole('form', { name: 'Reply' });
  await form.getByRole('textbox').fill(' 👩‍👩‍👧‍👦é ');
  assert.equal(await form.locator('.count').innerText(), '2 / 2,000');
  await thread.write(form, 'my reply');
  await thread.shows(['0 mine', '0 theirs', '1 my reply']);
  await form.waitFor({ state: 'detached' });
  await thread.button('theirs', 'Vote up').click();
  await thread.score('theirs', 1);
  assert.equal(await thread.button('theirs', 'Vote up').getAttribute('aria-pressed'), 'true');
  await thread.button('theirs', 'Vote down').click();
  await thread.score('theirs', '-1');
  await thread.button('theirs', 'Vote down').click();
  await thread.score('theirs', 0);
  assert.deepEqual((await other.ask(ada, SCORE, { id: theirs })).node, { score: 0, viewerVote: 'NONE' });
  await thread.button('my reply', 'Edit').click();
  await thread.write(thread.comment('my reply').getByRole('form', { name: 'Save' }), 'my better reply');
  await thread.shows(['0 mine', '0 theirs', '1 my better reply']);
  assert.equal(await thread.button('theirs', 'Edit').isVisible(), false, 'not one’s own');
  await thread.button('my better reply', 'Delete').click();
  await thread.button('my better reply', 'Delete for everybody?').click();
  await thread.shows(['0 mine', '0 theirs']);
  await reply('a branch of theirs', theirs);
  await thread.button('theirs', 'Delete branch').click();
  await thread.button('theirs', 'Delete for everybody?').click();
  await thread.shows(['0 mine']);
});

test('only the authors of a comment and of the status delete it; with replies of others, only the latter', async () => {
  const mine = await say('by the friend');
  await say('by ada', undefined, ada);
  await reply('again the friend', mine);
  await thread.open(status);
  await logIn(friendLogin);
  await thread.button('by the friend', 'Delete branch').waitFor();
  await reply('ada between', mine, ada);
  await thread.comment('ada between').waitFor();
  assert.equal(await thread.button('by the friend', 'Delete branch').isVisible(), false);
  assert.equal(await thread.button('by the friend', 'Delete').isVisible(), true);
  assert.equal(await thread.comment('by ada').getByRole('button', { name: 'Delete' }).count(), 0);
});

test('the error of a message is shown beside its box, and the message can be corrected', async () => {
  const gone = await say('soon gone');
  let isSilent = false;
  await page.routeWebSocket(/graphql/, (socket) => {
    socket.connectToServer().onMessage((text) => (isSilent ? null : socket.send(text)));
  });
  await thread.open(status);
  await logIn();
  await thread.write(thread.box, 'x'.repeat(2_001));
  const error = thread.box.getByRole('alert').filter({ hasText: /2,?000/ });
  await error.waitFor();
  assert.equal(await thread.box.getByRole('textbox').getAttribute('aria-invalid'), 'true');
  await thread.write(thread.box, 'mended');
  await thread.shows(['0 mended', '0 soon gone']);
  assert.equal(await error.count(), 0);
  await thread.button('soon gone', 'Reply').click();
  const form = thread.comment('soon gone').getByRole('form');
  await thread.write(form, 'x'.repeat(2_001));
  await form.getByRole('alert').filter({ hasText: /2,?000/ }).waitFor();
  // The page gets no event of the deletion.
  isSilent = true;
  await remove(gone);
  await thread.write(form, 'too late');
  await form.getByRole('alert').filter({ hasText: 'There is no such comment.' }).waitFor();
  await thread.button('soon gone', 'Vote up').click();
  await thread.comment('soon gone').locator(':scope > .error').filter({ hasText: 'There is no such comment.' }).waitFor();
});

test('the orders are those of the server, and further pages are read', async () => {
  const ids = [];
  for (let at = 1; at <= 120; at++) ids.push(await say(`comment ${at}`));
  await vote(ids[2], 'UP');
  const [asc, top] = [ids.map((_, at) => `0 comment ${at + 1}`), ['0 comment 3', ...ids.map((_, at) => `0 comment ${at + 1}`).toReversed().filter((it) => it !== '0 comment 3')]];
  await thread.open(status);
  await thread.shows(top.slice(0, 100));
  await thread.sort('Oldest');
  await thread.shows(asc.slice(0, 100));
  // A comment whose event arrives before its page is shown after the pages.
  await say('told ahead');
  await thread.shows([...asc.slice(0, 100), '0 told ahead']);
  await thread.panel.getByRole('button', { name: 'More comments' }).click();
  await thread.shows([...asc, '0 told ahead']);
  await thread.panel.getByRole('button', { name: 'More comments' }).waitFor({ state: 'hidden' });
  await thread.sort('Newest');
  await thread.shows(['0 told ahead', ...asc.toReversed()]);
});

test('the server is killed and restarted: no comment is missing or doubled', async () => {
  const top = await say('top');
  const kept = await reply('kept', top);
  const lost = await say('to be deleted');
  await thread.open(status);
  await thread.shows(['0 to be deleted', '0 top', '1 kept']);
  await Promise.all([server.end('SIGKILL'), reply('as it goes', kept)]);
  await thread.phase('waiting');
  await say('meanwhile');
  await change(friend, EDIT, { commentId: kept, message: 'kept, edited' });
  await remove(lost);
  await vote(top, 'UP');
  await Promise.all([server.begin(), reply('as it comes', top)]);
  await thread.followed();
  await reply('after', kept);
  await thread.shows(['0 meanwhile', '0 top', '1 as it comes', '1 kept, edited', '2 after', '2 as it goes']);
  await thread.score('top', 1);
  assert.equal(await thread.state.locator('.notice').isVisible(), false, 'there was no gap');
});

test('a gap has a notice, the thread is complete after it, and a draft stays', async () => {
  const top = await say('top');
  const edited = await say('to be edited');
  const gone = await say('to be deleted');
  await thread.open(status);
  await logIn();
  await thread.button('top', 'Reply').click();
  await page.keyboard.type('half a thou');
  await server.end('SIGKILL');
  await remove(gone);
  await vote(top, 'UP');
  await reply('in the gap', top);
  for (let at = 0; at < KEPT; at += 25) {
    await Promise.all(Array.from({ length: 25 }, (_, by) => change(friend, EDIT, { commentId: edited, message: `edit ${at + by}` })));
  }
  await change(friend, EDIT, { commentId: edited, message: 'edited in the gap' });
  await server.begin();
  await thread.state.locator('.notice').filter({ hasText: /read again/ }).waitFor();
  await thread.shows(['0 top', '1 in the gap', '0 edited in the gap']);
  assert.equal(await thread.comment('top').getByRole('form').getByRole('textbox').inputValue(), 'half a thou');
  await page.keyboard.type('ght');
  assert.equal(await thread.comment('top').getByRole('form').getByRole('textbox').inputValue(), 'half a thought');
});

test('the deletion of a status closes its thread with a notice', async () => {
  await say('goes too');
  await thread.open(status);
  await thread.shows(['0 goes too']);
  await other.ask(ada, DELETE_STATUS, { input: { statusId: status } });
  await thread.phase('gone');
  assert.match(await thread.state.innerText(), /may have been deleted/);
  assert.deepEqual(await thread.shown(), []);
});

test('a like in the thread changes the card, and vice versa', async () => {
  await live.load();
  await logInBesideNothing();
  status = (await other.ask(ada, POST, { input: { message: 'To be liked' } })).postStatus.status.id;
  const card = live.card('To be liked');
  await card.getByRole('button', { name: 'Like: 0 likes' }).click();
  await card.getByRole('button', { name: 'Like: 1 like' }).waitFor();
  await card.getByRole('button', { name: '0 comments' }).click();
  const like = thread.panel.getByRole('button', { name: 'Like: 1 like' });
  assert.equal(await like.getAttribute('aria-pressed'), 'true');
  await like.click();
  await card.getByRole('button', { name: 'Like: 0 likes' }).waitFor();
  assert.equal((await other.ask(ada, LIKES, { id: status })).node.likeCount, 0);
});

test('Escape closes the innermost open element, and the focus returns to its button', async () => {
  await say('top', undefined, ada);
  await thread.open(status);
  await logIn();
  await thread.button('top', 'Reply').click();
  await thread.comment('top').getByRole('form', { name: 'Reply' }).waitFor();
  await page.keyboard.press('Escape');
  await thread.comment('top').getByRole('form').waitFor({ state: 'detached' });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Reply');
  await thread.button('top', 'Delete').click();
  await page.keyboard.press('Escape');
  await thread.button('top', 'Delete').waitFor();
  assert.equal(await thread.panel.isVisible(), true, 'the thread is still open');
  await page.keyboard.press('Escape');
  await thread.panel.waitFor({ state: 'detached' });
});

test('a thread has its own URL', async () => {
  await say('said before');
  await page.goto(`${server.origin}/thread/${encodeURIComponent(status)}`);
  await thread.shows(['0 said before']);
  await thread.panel.getByText('Log in to comment, to like, and to vote.').waitFor();
  assert.equal(await thread.panel.getByRole('button', { name: 'Close' }).count(), 0);
});

async function logInBesideNothing() {
  await live.logIn(server.login, server.password);
  await live.followed();
}
