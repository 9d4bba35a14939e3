// A timeline as its visitor handles it: by labels, roles and what stands in the timeline.
import assert from 'node:assert/strict';

// A server that is stopped asks its clients to stay away for up to ten seconds, and takes its time to come back.
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

  // What is shown, the newest first.
  async shown() {
    return this.items.locator('.message').allInnerTexts();
  }

  // Waits until this is on top, and gives all that is shown: of a stream in order, everything before it has come by then.
  async upTo(message) {
    await this.page.waitForFunction((text) => document.querySelector('.timeline > li .message')?.textContent === text, message);
    return this.shown();
  }

  card(message) {
    return this.items.filter({ has: this.page.locator('.message').getByText(message, { exact: true }) });
  }

  // Waits until the server has begun to follow what was asked for last: what was asked for before is closed by then.
  async followed() {
    await this.phase('live');
    for (let tries = 0; tries < 400; tries++) {
      if (this.sockets === 1 && (await this.server.gauge('live_subscriptions', 'ws')) === 1) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail('nothing is followed');
  }
}
