// Tests texts that could not be sent: without a connection, beyond the rate limit, refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { change, friends, rowsOf, startBoth, useServer, window, withServer } from './chats.mjs';
import { until } from './chatpage.mjs';

useServer();

test('texts that were not sent stay in the tab, also when the page is loaded again', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  const page = await window(ada, chatId, { viewport: { width: 390, height: 844 } });
  let isDown = true;
  await page.page.route('**/graphql', (route) => (isDown && route.request().postDataJSON()?.operationName === 'ChatSend' ? route.abort() : route.fallback()));
  for (const text of ['one', 'two', 'three']) await page.send(text);
  await page.page.getByText('The server could not be reached.').waitFor();
  await page.page.locator('.unsent').filter({ hasText: 'two' }).waitFor();
  await page.page.reload();
  await page.page.getByText('The server could not be reached.').waitFor();
  await page.shows(['one', 'two', 'three']);
  assert.deepEqual(await rowsOf(ada, chatId), []);
  isDown = false;
  await page.page.locator('.unsent').getByRole('button', { name: 'Send again' }).click();
  await until('["one","two","three"]', async () => JSON.stringify(await rowsOf(bram, chatId)));
  await page.page.locator('.unsent').first().waitFor({ state: 'detached' });
  await page.shows(['one', 'two', 'three']);
  page.pageErrors.splice(0, Infinity, ...page.pageErrors.filter((text) => !/ERR_FAILED/.test(text)));
});

test('texts beyond the rate limit are sent by themselves, after the wait that the server names', async () => {
  await withServer(['--rate-messages', '2/2s'], async () => {
    const [ada, bram] = await friends('Ada', 'Bram');
    const chatId = await startBoth(ada, bram);
    const page = await window(ada, chatId);
    const texts = ['one', 'two', 'three', 'four', 'five'];
    for (const text of texts) await page.send(text);
    await page.page.getByText('Not sent').waitFor();
    await until(JSON.stringify(texts), async () => JSON.stringify(await rowsOf(bram, chatId)));
    await page.page.locator('.unsent').first().waitFor({ state: 'detached' });
    await page.shows(texts);
    page.pageErrors.splice(0, Infinity, ...page.pageErrors.filter((text) => !/status of 429/.test(text)));
  });
});

test('a text that the server refuses is kept with the error; a lost response does not double it', async () => {
  const [ada, bram] = await friends('Ada', 'Bram');
  const chatId = await startBoth(ada, bram);
  const page = await window(ada, chatId);
  let isLost = true;
  await page.page.route('**/graphql', async (route) => {
    if (isLost && route.request().postDataJSON()?.operationName === 'ChatSend') {
      await route.fetch();
      await route.abort();
    } else await route.fallback();
  });
  await page.send('only once');
  await page.page.getByText('The server could not be reached.').waitFor().catch(() => {});
  await until('["only once"]', async () => JSON.stringify(await rowsOf(ada, chatId)));
  isLost = false;
  await page.send('and then');
  await page.shows(['only once', 'and then']);
  await until('["only once","and then"]', async () => JSON.stringify(await rowsOf(ada, chatId)));
  await change(bram, 'blockUser', { userId: ada.user.id });
  await page.send('too late');
  const unsent = page.page.locator('.unsent');
  await unsent.getByRole('alert').filter({ hasText: /./ }).waitFor();
  assert.equal(await unsent.locator('.message').innerText(), 'too late');
  await change(bram, 'unblockUser', { userId: ada.user.id });
  await unsent.getByRole('button', { name: 'Send again' }).click();
  await page.shows(['only once', 'and then', 'too late']);
  page.pageErrors.splice(0, Infinity, ...page.pageErrors.filter((text) => !/ERR_FAILED/.test(text)));
});
