// A timeline as its users handle it: by labels, roles and texts.
import assert from 'node:assert/strict';

// A server that stops asks its clients to wait for up to ten seconds, and needs time to start again.
const PATIENCE = 30_000;

export class LivePage {
  constructor(page, server) {
    this.page = page;
    this.server = server;
    this.items = page.getByRole('list', { name: 'Timeline' }).locator(':scope > li');
    this.state = page.locator('main .connection');
    this.notice = this.state.locator('.notice');
    this.alert = page.getByRole('region', { name: 'Session' }).getByRole('alert');
    this.message = page.getByRole('textbox', { name: 'Message' });
    page.setDefaultTimeout(PATIENCE);
    this.sockets = 0;
    page.on('websocket', (socket) => {
      this.sockets++;
      socket.on('close', () => this.sockets--);
    });
  }

  // The public stream, or the home at `/home`.
  async load(path = '/live') {
    await this.page.goto(`${this.server.origin}${path}`);
  }

  button(name) {
    return this.page.getByRole('button', { name, exact: true });
  }

  async logIn(login, password) {
    await this.page.getByLabel('Login', { exact: true }).fill(login);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.button('Log in').click();
    await this.button('Log out').waitFor();
  }

  // Waits for a phase of the connection.
  phase(name) {
    return this.page.locator(`main .connection[data-phase='${name}']`).waitFor();
  }

  async choose(name) {
    await this.page.getByRole('radio', { name, exact: true }).check({ force: true });
  }

  // Follows the public stream by one kind of filter, with these fields.
  async filter(kind, fields) {
    await this.choose(kind);
    for (const [label, text] of Object.entries(fields)) await this.page.getByLabel(label, { exact: true }).fill(text);
    await this.button('Follow').click();
  }

  // The messages of the list, newest first.
  async shown() {
    return this.items.locator('.message').allInnerTexts();
  }

  // Waits until this message is at the top, and returns all messages. Events are in order, so all events before it have arrived.
  async upTo(message) {
    await this.page.waitForFunction((text) => document.querySelector('.timeline > li .message')?.textContent === text, message);
    return this.shown();
  }

  card(message) {
    return this.items.filter({ has: this.page.locator('.message').getByText(message, { exact: true }) });
  }

  // Waits until the server has one subscription: the latest one has started, and the ones before are closed.
  async followed() {
    await this.phase('live');
    for (let tries = 0; tries < 400; tries++) {
      if (this.sockets === 1 && (await this.server.gauge('live_subscriptions', 'ws')) === 1) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail('nothing is followed');
  }
}
