// A thread as its users handle it: by labels, roles and texts.
import assert from 'node:assert/strict';

export class ThreadPage {
  constructor(page, server) {
    this.page = page;
    this.server = server;
    this.panel = page.getByRole('region', { name: /^Comments/ });
    this.state = this.panel.locator('.connection');
    this.list = this.panel.getByRole('list', { name: 'Comments' });
    this.box = this.panel.getByRole('form', { name: 'Comment' });
  }

  // By the link to it, beside the public stream.
  async open(statusId) {
    await this.page.goto(`${this.server.origin}/live#${new URLSearchParams({ thread: statusId })}`);
    await this.followed();
  }

  // Waits until the server has the subscriptions of the thread and of the timeline.
  async followed(others = 1) {
    await this.phase('live');
    for (let tries = 0; tries < 400; tries++) {
      if ((await this.server.gauge('live_subscriptions', 'ws')) === 1 + others) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.fail('the thread is not followed');
  }

  phase(name) {
    return this.panel.locator(`.connection[data-phase='${name}']`).waitFor();
  }

  // A comment without its replies.
  comment(message) {
    return this.list.locator('.comment > article').filter({ has: this.page.locator('.message').getByText(message, { exact: true }) });
  }

  button(message, name) {
    return this.comment(message).getByRole('button', { name, exact: true });
  }

  // The depth and the text of each comment in reading order, also of collapsed ones.
  shown() {
    return this.list.evaluate((list) => {
      const walk = (items, depth) =>
        [...items.children].flatMap((item) => [
          `${depth} ${item.querySelector('.message').textContent}`,
          ...walk(item.querySelector(':scope > .replies'), depth + 1),
        ]);
      return walk(list, 0);
    });
  }

  // Waits until exactly these comments are shown.
  async shows(expected) {
    let shown;
    for (let tries = 0; tries < 600; tries++) {
      shown = await this.shown();
      if (JSON.stringify(shown) === JSON.stringify(expected)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(shown, expected);
  }

  async sort(label) {
    await this.panel.getByRole('combobox', { name: 'Sort by' }).selectOption({ label });
    await this.followed();
  }

  score(message, score) {
    return this.comment(message).locator('.score').filter({ hasText: new RegExp(`^${score}$`) }).waitFor();
  }

  async write(form, text) {
    await form.getByRole('textbox').fill(text);
    await form.getByRole('textbox').press('Control+Enter');
  }
}
