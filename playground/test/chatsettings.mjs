// Tests the viewer's chat settings and the retention of chats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, friends, say, server, signUp, startBoth, useServer, window } from './chats.mjs';
import { until } from './chatpage.mjs';

useServer();

const PHONE = { viewport: { width: 390, height: 844 } };

// The open settings of a window.
async function settingsOf(page) {
  await page.button('Settings').click();
  const region = page.page.getByRole('region', { name: 'Chat settings' });
  const [writers, receipts] = [region.getByLabel('Who may write to me'), region.getByRole('switch', { name: 'Read receipts' })];
  await writers.waitFor();
  return { region, writers, receipts, save: () => region.getByRole('button', { name: 'Save' }).click(), saved: region.getByText('Saved.') };
}

test('who may write and the read receipts are saved, after a reload and on another device', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  await say(ada, chatId, 'hello');
  const [desktop, left] = [await window(ada, chatId), await window(bram, chatId)];
  await desktop.ticks('hello', 'Seen');
  const before = await settingsOf(desktop);
  assert.equal(await before.writers.inputValue(), 'EVERYONE');
  assert.equal(await before.receipts.isChecked(), true);
  await before.writers.selectOption({ label: 'Friends' });
  await before.receipts.uncheck();
  await before.save();
  await before.saved.waitFor();
  await desktop.ticks('hello', 'Delivered');
  await before.writers.selectOption({ label: 'Nobody' });
  await before.saved.waitFor({ state: 'detached' });
  await desktop.page.keyboard.press('Escape');
  await before.region.waitFor({ state: 'detached' });
  await desktop.page.waitForFunction(() => document.activeElement.textContent === 'Settings');
  await desktop.page.reload();
  for (const device of [desktop, await window(ada, null, PHONE)]) {
    const { writers, receipts } = await settingsOf(device);
    assert.equal(await writers.inputValue(), 'FRIENDS');
    assert.equal(await receipts.isChecked(), false);
  }
  // Bram does not see what Ada has seen.
  await left.send('are you there?');
  await desktop.row('are you there?').waitFor();
  const seen = 'query ($id: ID!) { node(id: $id) { ... on Chat { viewerUnreadCount } } }';
  await until('0', async () => String((await server.ask(ada.token, seen, { id: chatId })).node.viewerUnreadCount));
  await left.page.reload();
  await left.ticks('are you there?', 'Delivered');
});

test('a refused sender sees the message of the server, beside the field', async () => {
  const [ada, bram] = await signUp('Ada', 'Bram');
  const page = await window(ada, null);
  const { writers, save, saved } = await settingsOf(page);
  await writers.selectOption({ label: 'Nobody' });
  await save();
  await saved.waitFor();
  const sender = await window(bram, null, PHONE);
  await sender.button('New chat').click();
  const form = sender.page.getByRole('form', { name: 'Start a chat' });
  const login = form.getByLabel('With (login)');
  await login.fill(ada.user.login);
  await form.getByRole('button', { name: 'Start chat' }).click();
  await form.getByText('This account does not accept messages from you.').waitFor();
  assert.equal(await login.getAttribute('aria-invalid'), 'true');
  const group = sender.page.getByRole('form', { name: 'Create a group' });
  await group.getByLabel('Name of the group').fill('Choir');
  await group.getByLabel('Members (logins)').fill(ada.user.login);
  await group.getByRole('button', { name: 'Create group' }).click();
  await group.getByText('This account does not accept messages from you.').waitFor();
});

test('the owner of a group sets its retention, which a member sees and cannot change', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const { id } = (await change(ada, 'createGroupChat', { name: 'Choir', userIds: [bram.user.id] }, 'chat { id }')).chat;
  const owner = await window(ada, id);
  await owner.button('Details').click();
  await owner.details.getByText('Messages are kept.').waitFor();
  const form = owner.details.getByRole('form', { name: 'Delete messages' });
  const days = form.getByLabel('Days after all have seen them');
  const set = async (text) => {
    await days.fill(text);
    await form.getByRole('button', { name: 'Set' }).click();
  };
  await set('366');
  await form.getByText('The number of days must be from 0 to 365.').waitFor();
  await owner.page.waitForFunction(() => document.activeElement.matches('[aria-invalid=true]'));
  await set('7');
  await owner.details.getByText('Messages are deleted 7 days after all members have seen them.').waitFor();
  const member = await window(bram, id, PHONE);
  await member.button('Details').click();
  await member.details.getByText('Messages are deleted 7 days after all members have seen them. Only the owner of the group can change this.').waitFor();
  assert.equal(await member.details.getByRole('form', { name: 'Delete messages' }).count(), 0);
  await set('');
  await owner.details.getByText('Messages are kept.').waitFor();
  await change(ada, 'setChatMemberRole', { chatId: id, userId: bram.user.id, role: 'OWNER' });
  await member.details.getByRole('form', { name: 'Delete messages' }).waitFor();
  await form.waitFor({ state: 'detached' });
});

test('in a direct chat either sets the retention; above the rows that are left, a line says that older ones were deleted', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  const [left, right] = [await window(ada, chatId), await window(bram, chatId, PHONE)];
  await left.send('soon gone');
  await left.ticks('soon gone', 'Seen');
  await right.button('Details').click();
  await right.details.getByLabel('Days after all have seen them').fill('0');
  await right.details.getByRole('button', { name: 'Set' }).click();
  await right.details.getByText('Messages are deleted as soon as all members have seen them.').waitFor();
  const isTrimmed = 'query ($id: ID!) { node(id: $id) { ... on Chat { messages(first: 1) { isTrimmed } } } }';
  await until('true', async () => String((await server.ask(ada.token, isTrimmed, { id: chatId })).node.messages.isTrimmed));
  await left.load(chatId);
  await left.page.getByText('All messages so far were deleted.').waitFor();
  await change(ada, 'setChatRetention', { chatId, daysAfterSeen: null });
  await left.send('this one stays');
  await left.shows(['this one stays']);
  await left.page.getByText('Older messages were deleted.').waitFor();
  await right.load(chatId);
  await right.page.getByText('Older messages were deleted.').waitFor();
  assert.deepEqual(await right.shown(), ['this one stays']);
  await right.page.getByRole('link', { name: 'Back to your chats' }).click();
});
