// The page of two people as its users handle it: by labels, roles and texts.
import assert from 'node:assert/strict';

export class PeoplePage {
  constructor(page, server) {
    this.page = page;
    this.server = server;
  }

  async load() {
    await this.page.goto(`${this.server.origin}/people`);
  }

  // Logs in the two accounts of the demo data, and waits for their subscriptions.
  async begin() {
    await this.load();
    await this.page.getByRole('button', { name: 'Log in ada and bram' }).click();
    await this.live();
  }

  async live() {
    for (const side of [this.side('ada'), this.side('bram')]) await side.locator(".connection[data-phase='live']").waitFor();
  }

  side(login) {
    return this.page.getByRole('region', { name: new RegExp(`\\(${login}\\)$`) });
  }

  // The card of the other account.
  card(login) {
    return this.side(login).locator(':scope > .person');
  }

  button(login, name) {
    return this.card(login).getByRole('button', { name, exact: true });
  }

  requests(login) {
    return this.side(login).getByRole('region', { name: 'Requests' });
  }

  // Waits for exactly these sentences about the relation.
  async relation(login, expected) {
    await until(expected.join(), async () => (await this.card(login).getByRole('list', { name: 'Relation' }).getByRole('listitem').allInnerTexts()).join());
  }

  async post(login, message, audience = 'Public') {
    const box = this.side(login).getByRole('form', { name: 'Post' });
    await box.getByRole('combobox', { name: 'Audience' }).selectOption({ label: audience });
    await box.getByRole('textbox', { name: 'Message' }).fill(message);
    await box.getByRole('button', { name: 'Post' }).click();
    await this.status(login, message).waitFor();
  }

  // A status with its table.
  status(login, message) {
    return this.side(login).getByRole('list', { name: 'Statuses of both' }).locator(':scope > li').filter({ hasText: message });
  }

  // Waits until the author's table has exactly these rows for the other account and for somebody logged out.
  async seen(login, message, expected) {
    const table = this.status(login, message).locator('tbody');
    await until(expected.join(' | '), async () => {
      const textOf = (row) => row.locator('td').allTextContents();
      const rows = (await Promise.all((await table.locator('tr').all()).map(textOf))).map((cells) => cells.join(': '));
      return rows.filter((row) => row !== 'sees: author').join(' | ');
    });
  }
}

// Waits until a text is the expected one.
export async function until(expected, read) {
  let found;
  for (let tries = 0; tries < 200; tries++) {
    found = await read().catch((error) => error.message);
    if (found === expected) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(found, expected);
}
