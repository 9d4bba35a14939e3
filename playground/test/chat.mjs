// Tests the chats in Chromium, in windows of several accounts and devices.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, friends, rowsOf, say, server, signUp, startBoth, startChat, useServer, window } from './chats.mjs';
import { until } from './chatpage.mjs';
import { load } from './source.mjs';

useServer();

test('rows are in order, whatever the order in which they arrive', async () => {
  const { fromPage, lastOf, withNewer, withNewest, withOlder, withRow } = await load('routes/chat/rows.ts');
  const row = (sequence, text = '') => ({ id: `row ${sequence}`, sequence, text, replyTo: null });
  const page = (from, to, older, newer) => ({
    newestSequence: 9,
    edges: Array.from({ length: from - to + 1 }, (_, at) => ({ node: row(from - at) })),
    pageInfo: { hasNextPage: older, hasPreviousPage: newer, startCursor: 'newer', endCursor: 'older' },
  });
  const shown = ({ rows }) => rows.map(({ sequence }) => sequence);
  const empty = fromPage({ ...page(0, 1, false, false), newestSequence: 0 });
  // The response to an own text may arrive before the event of the row before it.
  assert.deepEqual([2, 1].reduce((states, sequence) => [...states, withRow(states.at(-1), row(sequence))], [empty]).map(shown), [[], [], [1, 2]]);
  assert.deepEqual(shown(withRow(fromPage(page(0, 1, false, false)), row(10))), [10], 'after rows that the viewer cannot read');
  const middle = fromPage(page(6, 4, true, true));
  assert.deepEqual([shown(middle), lastOf(middle), middle.older, middle.newer], [[4, 5, 6], 6, 'older', 'newer']);
  assert.deepEqual(shown(withRow(middle, row(10))), [4, 5, 6], 'a page is between them');
  assert.deepEqual(shown(withOlder(middle, page(4, 2, false, true))), [2, 3, 4, 5, 6]);
  const newest = withNewer(withRow(middle, row(10)), page(9, 6, true, false));
  assert.deepEqual(shown(withRow(newest, row(10))), [4, 5, 6, 7, 8, 9, 10]);
  const ahead = withRow(newest, row(14));
  const [near, far] = [page(14, 9, true, false), page(14, 12, true, false)].map((newest) => withNewest(ahead, newest));
  assert.deepEqual([shown(near), near.older, near.ahead], [[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], 'older', []], 'older rows are kept');
  assert.deepEqual([shown(far), far.ahead], [[12, 13, 14], []], 'other rows are between');
  const changed = withRow(newest, row(5, 'changed'));
  assert.deepEqual([shown(changed), changed.rows[1].text], [[4, 5, 6, 7, 8, 9], 'changed']);
});

test('logged out and without chats, the page says what to do first', async () => {
  const [ada] = await signUp('Ada');
  const page = await window(ada, null);
  await page.page.getByText('No chats yet. Begin one with New chat, or with Message on a profile.').waitFor();
  await page.page.getByText('Choose a chat, or begin one with New chat.').waitFor();
  await page.choose('Archive');
  await page.page.getByText('Nothing is archived.').waitFor();
  await page.choose('Requests');
  await page.page.getByText('Nobody waits for your answer.').waitFor();
  await page.page.goto(`${server.origin}/chat/no-id`);
  await page.page.getByText('`no-id` is not an id.').waitFor();
  await page.page.getByRole('link', { name: 'Back to your chats' }).click();
  await page.page.getByText('Choose a chat, or begin one with New chat.').waitFor();
  await page.button('Log out').click();
  await page.page.getByText('Log in above to see your chats.').waitFor();
});

test('a log-out is sent after the reads before it, and those that begin meanwhile are not sent', async () => {
  const [ada] = await signUp('Ada');
  const page = await window(ada, null);
  const sent = [];
  const readCount = () => page.page.evaluate(() => void dispatchEvent(new Event('focus')));
  await page.page.route(/graphql/, async (route) => {
    const operation = /SessionLogOut|UnreadChats/.exec(route.request().postData() ?? '')?.[0];
    if (operation === 'UnreadChats') await page.page.waitForTimeout(300);
    if (operation) sent.push(operation);
    if (operation === 'SessionLogOut') {
      await readCount();
      await page.page.waitForTimeout(300);
    }
    return route.fallback();
  });
  const read = page.page.waitForRequest((request) => request.postData()?.includes('UnreadChats'));
  await readCount();
  await read;
  await page.button('Log out').click();
  await page.page.getByText('Log in above to see your chats.').waitFor();
  await page.page.waitForTimeout(1_000);
  // The page also reads the number by itself, shortly after its lists.
  assert.deepEqual([sent[0], sent.indexOf('SessionLogOut')], ['UnreadChats', sent.length - 1]);
});

test('a chat is begun, and a text sent, by keyboard alone; Escape closes what is open', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const page = await window(ada, null);
  const { keyboard } = page.page;
  await page.button('New chat').focus();
  await keyboard.press('Enter');
  const form = page.page.getByRole('region', { name: 'New chat' });
  await form.waitFor();
  await keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
  await page.page.waitForFunction(() => document.activeElement.textContent === 'New chat');
  await keyboard.press('Enter');
  await keyboard.type('nobody-there');
  await keyboard.press('Enter');
  await form.getByText('There is no account @nobody-there for you.').waitFor();
  await keyboard.press('Control+A');
  await keyboard.type(`@${bram.user.login}`);
  await keyboard.press('Enter');
  await page.box.waitFor();
  await page.page.waitForFunction(() => document.activeElement.matches('textarea'));
  await page.page.getByText('No messages yet. Write the first one below.').waitFor();
  await keyboard.type('first line');
  await keyboard.press('Shift+Enter');
  await keyboard.type('second line');
  await keyboard.press('Enter');
  await page.shows(['first line\nsecond line']);
  await page.ticks('first line\nsecond line', 'Sent');
  await keyboard.press('Enter');
  await page.page.getByText('Write a message first.').waitFor();
  await keyboard.type('x'.repeat(2_001));
  await keyboard.press('Enter');
  await page.page.getByText('The message is too long').waitFor();
  assert.equal((await page.box.inputValue()).length, 2_001, 'the text is kept');
  await page.box.fill('');
  await page.row('first line\nsecond line').focus();
  await keyboard.press('Tab');
  await page.page.waitForFunction(() => document.activeElement.textContent === 'React');
  await keyboard.press('Enter');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  await page.page.getByRole('group', { name: 'Reactions' }).getByRole('button', { name: '👍 1', pressed: true }).waitFor();
});

test('two people talk: delivered, seen, typing, replies, reactions, edits and deletions', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startChat(ada, bram);
  const [left, right] = [await window(ada, chatId), await window(bram, null)];
  await left.send('hello');
  await right.item(ada.user.name).getByText('hello').waitFor();
  await right.unread(1);
  await right.page.getByRole('link', { name: 'Chat 1 unread chat' }).waitFor();
  await right.unreadIn(ada.user.name, 1);
  await left.ticks('hello', 'Delivered');
  await right.item(ada.user.name).click();
  await right.shows(['hello']);
  await left.ticks('hello', 'Seen');
  await right.unread(0);
  await right.unreadIn(ada.user.name, 0);
  let typed = 0;
  right.page.on('request', (request) => void (request.method() === 'POST' && request.postDataJSON()?.operationName === 'ChatSendTyping' && typed++));
  await right.box.pressSequentially('good');
  await left.page.getByText(`${bram.user.name} is typing …`).waitFor();
  assert.equal(typed, 1, 'once for several letters');
  await right.act('hello', 'Reply');
  await right.page.getByText('Cancel reply').waitFor();
  await right.page.keyboard.press('Escape');
  await right.page.getByText('Cancel reply').waitFor({ state: 'detached' });
  await right.act('hello', 'Reply');
  await right.send('good day');
  await left.shows(['hello', 'good day']);
  await left.page.getByText(`${bram.user.name} is typing …`).waitFor({ state: 'detached' });
  const quote = left.row('good day').getByRole('button', { name: `In reply to ${ada.user.name} hello` });
  await quote.click();
  await left.page.waitForFunction(() => document.activeElement.dataset.sequence === '1');
  await left.act('good day', 'React');
  await left.row('good day').getByRole('group', { name: 'Emoji' }).getByRole('button', { name: '🎉' }).click();
  const reaction = (page, count, pressed) => page.row('good day').getByRole('button', { name: `🎉 ${count}`, pressed });
  await reaction(right, 1, false).click();
  await reaction(left, 2, true).click();
  await reaction(right, 1, true).waitFor();
  await left.act('hello', 'Edit');
  await left.page.getByRole('textbox', { name: 'Changed message' }).fill('hello, Bram');
  await left.page.keyboard.press('Enter');
  await right.shows(['hello, Bram', 'good day']);
  await right.row('hello, Bram').getByText('edited').waitFor();
  await right.row('good day').getByRole('button', { name: `In reply to ${ada.user.name} hello, Bram` }).waitFor();
  await left.act('hello, Bram', 'Delete');
  assert.equal(await right.row('hello, Bram').count(), 1, 'a deletion is confirmed first');
  await left.row('hello, Bram').getByRole('button', { name: 'Delete for everybody?' }).click();
  for (const page of [left, right]) await page.shows(['This message was deleted.', 'good day']);
  await right.row('good day').getByRole('button', { name: 'This message was deleted.' }).waitFor();
  assert.equal(await left.row('good day').getByRole('button', { name: 'Delete', exact: true }).count(), 0, 'not one’s own');
});

test('a text is not marked as seen while the window has no focus, and begins the unread ones', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startChat(ada, bram);
  await say(ada, chatId, 'before');
  const [left, right] = [await window(ada, chatId), await window(bram)];
  await right.page.addInitScript(() => (document.hasFocus = () => window.isFocused ?? true));
  await right.load(chatId);
  await left.ticks('before', 'Seen');
  await right.page.evaluate(() => (window.isFocused = false));
  await left.send('while away');
  await right.shows(['before', 'while away']);
  await right.page.getByText('New messages', { exact: true }).waitFor();
  await left.ticks('while away', 'Delivered');
  await right.unread(1);
  await right.page.evaluate(() => {
    window.isFocused = true;
    dispatchEvent(new Event('focus'));
  });
  await left.ticks('while away', 'Seen');
  await right.unread(0);
});

test('two devices of one account are in step: badge, own texts, positions, mutes and the archive', async () => {
  const [ada, bram, chiara] = await friends('Ada', 'Bram', 'Chiara');
  const [withBram, withChiara] = [await startBoth(ada, bram), await startBoth(ada, chiara)];
  const [phone, desktop] = [await window(ada, null, { viewport: { width: 390, height: 844 } }), await window(ada, null)];
  await say(bram, withBram, 'to both');
  await say(chiara, withChiara, 'to both, too');
  for (const device of [phone, desktop]) await device.unread(2);
  await until('Chiara Bram', async () => (await desktop.page.locator('.chat-name').allInnerTexts()).map((name) => name.split(' ')[0]).join(' '));
  await phone.item(bram.user.name).click();
  await desktop.unread(1);
  await desktop.unreadIn(bram.user.name, 0);
  assert.equal(await phone.item(bram.user.name).isVisible(), false, 'one at a time on a phone');
  await phone.send('from the phone');
  await desktop.item(bram.user.name).getByText('You: from the phone').waitFor();
  await phone.page.getByRole('link', { name: 'Back to your chats' }).click();
  await desktop.item(chiara.user.name).click();
  await phone.unread(0);
  await desktop.button('Details').click();
  await desktop.details.getByRole('button', { name: 'Mute', exact: true }).click();
  await phone.item(chiara.user.name).getByText('Muted').waitFor();
  await desktop.details.getByRole('button', { name: 'Archive', exact: true }).click();
  await phone.item(chiara.user.name).waitFor({ state: 'detached' });
  await phone.choose('Archive');
  await phone.item(chiara.user.name).waitFor();
  await desktop.details.getByRole('button', { name: 'Unarchive' }).click();
  await phone.item(chiara.user.name).waitFor({ state: 'detached' });
  await phone.choose('Inbox');
  await phone.item(chiara.user.name).waitFor();
  await desktop.details.getByRole('button', { name: 'Delete history' }).click();
  await desktop.details.getByRole('button', { name: 'Delete it for you alone?' }).click();
  await desktop.page.getByText('No messages yet.').waitFor();
  await phone.item(chiara.user.name).waitFor({ state: 'detached' });
  assert.deepEqual(await rowsOf(chiara, withChiara), ['to both, too']);
  await say(chiara, withChiara, 'after it');
  await desktop.shows(['after it']);
  await phone.item(chiara.user.name).waitFor();
});

test('a stranger waits for an answer: accepted, or declined', async () => {
  const [ada, bram, chiara] = await signUp('Ada', 'Bram', 'Chiara');
  const page = await window(ada, null);
  const [fromBram, fromChiara] = [await startChat(bram, ada), await startChat(chiara, ada)];
  await say(bram, fromBram, 'do you know me?');
  await say(chiara, fromChiara, 'buy this');
  await page.choose('Requests (2)');
  await page.item(bram.user.name).click();
  await page.shows(['do you know me?']);
  assert.equal(await page.box.count(), 0);
  await page.unread(0);
  await page.button('Accept').click();
  await page.send('now I do');
  await page.item(bram.user.name).waitFor({ state: 'detached' });
  await page.item(chiara.user.name).click();
  await page.button('Decline').click();
  await page.page.getByText('Nobody waits for your answer.').waitFor();
  await page.choose('Inbox');
  await page.item(bram.user.name).waitFor();
  assert.equal(await page.item(chiara.user.name).count(), 0);
  assert.deepEqual(await rowsOf(bram, fromBram), ['do you know me?', 'now I do']);
});

test('a group: roles, members, names, and who leaves', async () => {
  const [ada, bram, chiara] = await friends('Ada', 'Bram', 'Chiara');
  const [left, right] = [await window(ada, null), await window(bram, null)];
  await left.button('New chat').click();
  const form = left.page.getByRole('form', { name: 'Create a group' });
  await form.getByLabel('Name of the group').fill('Choir');
  await form.getByLabel('Members (logins)').fill(`${bram.user.login}, no-such-login`);
  await form.getByRole('button', { name: 'Create group' }).click();
  await form.getByText('There is no account @no-such-login for you.').waitFor();
  await form.getByLabel('Members (logins)').fill(bram.user.login);
  await form.getByLabel('Who joins later reads').selectOption({ label: 'Everything' });
  await form.getByRole('button', { name: 'Create group' }).click();
  await left.send('sing');
  await right.item('Choir').getByText(`${ada.user.name}: sing`).waitFor();
  await right.item('Choir').click();
  await left.ticks('sing', 'Seen');
  await left.button('Details').click();
  await left.details.getByRole('form', { name: 'Add members' }).getByLabel('Logins').fill(chiara.user.login);
  await left.details.getByRole('button', { name: 'Add', exact: true }).click();
  const joined = `${chiara.user.name} joined, added by ${ada.user.name}`;
  await right.shows(['sing', joined]);
  const member = (page, session) => page.details.getByRole('group', { name: `Actions for ${session.user.name}` });
  await member(left, bram).getByRole('button', { name: 'Make admin' }).click();
  await right.shows(['sing', joined, 'You are now an admin']);
  await right.button('Details').click();
  const rename = right.details.getByRole('form', { name: 'Rename the group' });
  await rename.getByLabel('Name').fill('Duet');
  await rename.getByRole('button', { name: 'Rename' }).click();
  await left.page.getByRole('heading', { name: 'Duet' }).waitFor();
  await left.item('Duet').waitFor();
  const renamed = `${bram.user.name} renamed the group to “Duet”`;
  await left.shows(['sing', `${chiara.user.name} joined, added by you`, `${bram.user.name} is now an admin`, renamed]);
  assert.equal(await member(right, ada).count(), 0, 'an admin does not act on the owner');
  await member(right, chiara).getByRole('button', { name: 'Remove' }).click();
  await right.details.getByRole('button', { name: 'Remove from the group?' }).click();
  await left.rows.getByText(`${bram.user.name} removed ${chiara.user.name}`).waitFor();
  await member(left, bram).getByRole('button', { name: 'Make owner' }).click();
  await left.details.getByRole('button', { name: 'Hand the group over?' }).click();
  await right.rows.getByText('You are now the owner').waitFor();
  await left.rows.getByText('You are now an admin').waitFor();
  await right.act('sing', 'Delete');
  await right.row('sing').getByRole('button', { name: 'Delete for everybody?' }).click();
  await left.rows.getByText('This message was deleted.').waitFor();
  await member(right, ada).getByRole('button', { name: 'Remove' }).click();
  await right.details.getByRole('button', { name: 'Remove from the group?' }).click();
  await left.page.getByText('There is no such chat for you.').waitFor();
  await left.item('Duet').waitFor({ state: 'detached' });
  await right.details.getByRole('button', { name: 'Leave group' }).click();
  await right.details.getByRole('button', { name: 'Leave, and lose its messages?' }).click();
  await right.page.getByText('No chats yet.').waitFor();
});

test('in a group, texts of a blocked member keep their place and are hidden, also new ones', async () => {
  const [ada, bram, chiara] = await friends('Ada', 'Bram', 'Chiara');
  const input = { name: 'Trio', userIds: [bram.user.id, chiara.user.id] };
  const { id } = (await change(ada, 'createGroupChat', input, 'chat { id }')).chat;
  await say(chiara, id, 'before the block');
  await say(bram, id, 'between');
  await change(ada, 'blockUser', { userId: chiara.user.id });
  const page = await window(ada, id);
  const hidden = 'Message by an account that you blocked or that blocked you.';
  await page.shows([hidden, 'between']);
  await say(chiara, id, 'after the block');
  await page.shows([hidden, 'between', hidden]);
  assert.equal(await page.row(hidden).getByRole('button').count(), 0, 'no actions');
  await page.unread(0);
  await page.item('Trio').getByText(hidden).waitFor();
});

test('older rows are read on scrolling, and the row that is being read keeps its place', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  for (let at = 1; at <= 100; at++) await say(ada, chatId, `message ${at}`);
  const all = Array.from({ length: 100 }, (_, at) => `message ${at + 1}`);
  const page = await window(ada, chatId);
  await page.row('message 100').waitFor();
  await until('at the end', async () => ((await page.scroll()).left < 40 ? 'at the end' : JSON.stringify(await page.scroll())));
  assert.equal(await page.row('message 1').count(), 0, 'a page at a time');
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await page.page.route('**/graphql', async (route) => {
    if (route.request().postDataJSON()?.operationName === 'ChatRows') await held;
    await route.fallback();
  });
  await page.scrolled.evaluate((box) => (box.scrollTop = 0));
  const first = (await page.shown())[0];
  const before = await page.placeOf(first);
  release();
  await until('more', async () => ((await page.shown()).length > 40 ? 'more' : 'none'));
  assert.ok(Math.abs((await page.placeOf(first)) - before) <= 2, `${first} moved from ${before} to ${await page.placeOf(first)}`);
  await until(JSON.stringify(all), async () => {
    await page.scrolled.evaluate((box) => (box.scrollTop = 0));
    return JSON.stringify(await page.shown());
  });
  // A row that arrives does not move what is being read.
  const top = await page.placeOf('message 1');
  await say(bram, chatId, 'meanwhile');
  await page.row('meanwhile').waitFor();
  assert.equal(await page.placeOf('message 1'), top);
  await page.button('Newest').click();
  await until('at the end', async () => ((await page.scroll()).left < 40 ? 'at the end' : 'elsewhere'));
  await page.button('Newest').waitFor({ state: 'detached' });
});

test('a chat begins at the first unread row, and is seen as far as one scrolls', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  for (let at = 1; at <= 90; at++) await say(at % 3 === 0 ? bram : ada, chatId, `message ${at}`);
  // Bram's own texts move his position: what follows is unread.
  for (let at = 91; at <= 200; at++) await say(ada, chatId, `message ${at}`);
  const page = await window(bram, null);
  await until('99+', () => page.item(ada.user.name).locator('.badge > :first-child').innerText());
  await page.item(ada.user.name).click();
  await page.row('message 91').waitFor();
  const line = page.page.locator('.unread-line');
  assert.equal(await line.innerText(), 'New messages');
  assert.equal(await line.evaluate((line) => line.nextElementSibling.dataset.sequence), '91');
  assert.ok((await page.placeOf('message 91')) < 200, 'the line is at the top');
  assert.equal(await page.row('message 200').count(), 0, 'it does not begin at the end');
  const unread = async () => (await server.ask(bram.token, 'query ($id: ID!) { node(id: $id) { ... on Chat { viewerUnreadCount } } }', { id: chatId })).node.viewerUnreadCount;
  await until('some are seen', async () => ((await unread()) < 110 ? 'some are seen' : 'none'));
  assert.ok((await unread()) > 80, `${await unread()} are left`);
  await until('seen', async () => {
    await page.scrolled.evaluate((box) => (box.scrollTop = box.scrollHeight));
    return (await page.row('message 200').count()) === 1 ? 'seen' : 'not read';
  });
  await page.scrolled.evaluate((box) => (box.scrollTop = box.scrollHeight));
  await page.unreadIn(ada.user.name, 0);
  const shown = await page.shown();
  assert.deepEqual(shown.slice(-110), Array.from({ length: 110 }, (_, at) => `message ${at + 91}`));
  assert.equal(new Set(shown).size, shown.length);
});

test('the server is killed and restarted while two people talk: nothing is lost or doubled, and all is in order', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  const [left, right] = [await window(ada, chatId), await window(bram, chatId, { viewport: { width: 390, height: 844 } })];
  const own = { left: [], right: [] };
  const talk = async (name, page, from, to) => {
    for (let at = from; at <= to; at++) {
      own[name].push(`${name} ${at}`);
      await page.send(`${name} ${at}`);
    }
  };
  await Promise.all([talk('left', left, 1, 5), talk('right', right, 1, 5)]);
  // Killed while texts are being sent.
  await Promise.all([server.end('SIGKILL'), talk('left', left, 6, 15), talk('right', right, 6, 15)]);
  await left.page.getByText('Not sent').first().waitFor();
  await right.page.getByText('Reconnecting').waitFor();
  await left.page.getByText('The server could not be reached.').first().waitFor();
  await Promise.all([server.begin(), talk('left', left, 16, 20), talk('right', right, 16, 20)]);
  for (const page of [left, right]) await page.live();
  await Promise.all([talk('left', left, 21, 22), talk('right', right, 21, 22)]);
  await until('40 and 4', async () => ((await rowsOf(ada, chatId)).length === 44 ? '40 and 4' : JSON.stringify(await rowsOf(ada, chatId))));
  const rows = await rowsOf(ada, chatId);
  for (const name of ['left', 'right']) assert.deepEqual(rows.filter((text) => text.startsWith(name)), own[name]);
  for (const page of [left, right]) await page.shows(rows);
  for (const page of [left, right]) assert.equal(await page.page.locator('.unsent').count(), 0);
  await left.ticks('left 22', 'Seen');
  await right.ticks('right 22', 'Seen');
  for (const page of [left, right]) page.forgetOutage();
});

test('after a gap, the chats and the open one are read again, with a notice', async () => {
  const [ada, bram, chiara] = await friends('Ada', 'Bram', 'Chiara');
  const [chatId, other] = [await startBoth(ada, bram), await startBoth(ada, chiara)];
  await say(bram, chatId, 'before the gap');
  const page = await window(ada);
  let isLost = false;
  let gap;
  await page.page.routeWebSocket(/graphql/, (socket) => {
    const upstream = socket.connectToServer();
    upstream.onMessage((text) => {
      const message = JSON.parse(text);
      if (!isLost || message.type !== 'next') return socket.send(text);
      if (!/the end of the gap/.test(text)) return;
      isLost = false;
      gap = message.payload.data.chatEvents.cursor;
      socket.send(JSON.stringify({ ...message, payload: { data: { chatEvents: { __typename: 'StreamGap', cursor: gap, reason: 'TOO_SLOW' } } } }));
    });
  });
  await page.load(chatId);
  await page.shows(['before the gap']);
  isLost = true;
  await say(bram, chatId, 'in the gap');
  await say(chiara, other, 'in the gap, too');
  await say(bram, chatId, 'the end of the gap');
  await page.page.getByText(/Events of the chats are missing \(more came than this page could take\)/).waitFor();
  assert.ok(gap);
  await page.shows(['before the gap', 'in the gap', 'the end of the gap']);
  await page.unreadIn(chiara.user.name, 1);
  await say(bram, chatId, 'after the gap');
  await page.shows(['before the gap', 'in the gap', 'the end of the gap', 'after the gap']);
});

test('a profile has a link that begins a chat with the account', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const page = await window(ada);
  await page.page.goto(`${server.origin}/profile/${bram.user.login}`);
  await page.page.getByRole('link', { name: 'Message', exact: true }).click();
  await page.page.getByRole('heading', { name: bram.user.name }).waitFor();
  await page.send('from the profile');
  await page.shows(['from the profile']);
  await page.page.goBack();
  await page.page.getByRole('link', { name: 'Message', exact: true }).waitFor();
  // Elsewhere a link only fills in the form.
  await page.page.goto(`${server.origin}/chat?to=${bram.user.login}`);
  assert.equal(await page.page.getByLabel('With (login)').inputValue(), bram.user.login);
  await page.button('Start chat').click();
  await page.shows(['from the profile']);
});
