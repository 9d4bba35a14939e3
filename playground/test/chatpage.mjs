// The page of the chats as its users handle it: by labels, roles and texts.
import assert from 'node:assert/strict';
import { open } from './browser.mjs';

export class ChatPage {
  // A window of its own browser, logged in as an account.
  static async open(server, session, options) {
    const { browser, page, pageErrors } = await open(server.origin, options);
    await page.addInitScript((session) => localStorage.setItem('waxwing.session', session), JSON.stringify(session));
    return new ChatPage(server, browser, page, pageErrors);
  }

  constructor(server, browser, page, pageErrors) {
    Object.assign(this, { server, browser, page, pageErrors });
    page.setDefaultTimeout(20_000);
    this.box = page.getByRole('textbox', { name: 'Message' });
    this.rows = page.getByRole('list', { name: 'Messages' }).locator(':scope > .row');
    this.scrolled = page.getByRole('region', { name: 'Messages' });
    this.details = page.getByRole('region', { name: 'Details' });
  }

  // The lists, or one chat.
  async load(chatId = null) {
    await this.page.goto(`${this.server.origin}/chat${chatId ? `/${encodeURIComponent(chatId)}` : ''}`);
    await this.live();
    if (chatId) await this.page.locator('.chat').waitFor();
  }

  live() {
    return this.page.locator(".chat-side .connection[data-phase='live']").waitFor({ state: 'attached' });
  }

  button(name) {
    return this.page.getByRole('button', { name, exact: true });
  }

  // A chat of the list that is shown.
  item(name) {
    return this.page.locator('.chat-link').filter({ has: this.page.locator('.chat-name').getByText(name, { exact: true }) });
  }

  choose(list) {
    return this.page.getByRole('radio', { name: list }).check({ force: true });
  }

  async send(text) {
    await this.box.fill(text);
    await this.box.press('Enter');
  }

  row(text) {
    return this.rows.filter({ has: this.page.locator('.message').getByText(text, { exact: true }) });
  }

  // Presses an action of a text.
  async act(text, name) {
    await this.row(text).hover();
    await this.row(text).getByRole('button', { name, exact: true }).click();
  }

  // The texts and the lines of the open chat.
  shown() {
    return this.rows.evaluateAll((rows) => rows.map((row) => (row.querySelector('.message') ?? row).textContent));
  }

  async shows(expected) {
    await until(JSON.stringify(expected), async () => JSON.stringify(await this.shown()));
  }

  async ticks(text, expected) {
    await until(expected, () => this.row(text).locator('.ticks .visually-hidden').innerText());
  }

  // The number of chats with unread texts, in the navigation.
  async unread(expected) {
    const badge = this.page.getByRole('navigation', { name: 'Parts' }).locator('.badge > :first-child');
    await until(String(expected), async () => (await badge.allInnerTexts())[0] ?? '0');
  }

  // The number of unread texts of a chat, in the list.
  async unreadIn(name, expected) {
    const badge = this.item(name).locator('.badge > :first-child');
    await until(String(expected), async () => (await badge.allInnerTexts())[0] ?? '0');
  }

  scroll() {
    return this.scrolled.evaluate(({ scrollTop, scrollHeight, clientHeight }) => ({ top: scrollTop, left: scrollHeight - clientHeight - scrollTop }));
  }

  // The place of a row within the visible part.
  placeOf(text) {
    return this.row(text).evaluate((row) => row.getBoundingClientRect().top - row.closest('.rows').getBoundingClientRect().top);
  }

  async close() {
    await this.browser.close();
    assert.deepEqual(this.pageErrors, []);
  }

  // Forgets what Chromium logs when the server is down.
  forgetOutage() {
    const isExpected = (text) => /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED|WebSocket connection to .* failed/.test(text);
    this.pageErrors.splice(0, Infinity, ...this.pageErrors.filter((text) => !isExpected(text)));
  }
}

// Waits until a text is the expected one.
export async function until(expected, read) {
  let found;
  for (let tries = 0; tries < 400; tries++) {
    found = await read().catch((error) => error.message);
    if (found === expected) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(found, expected);
}
