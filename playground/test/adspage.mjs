// The page of the ad network as its users handle it: by labels, roles and texts.
import assert from 'node:assert/strict';

export class AdsPage {
  constructor(page, server) {
    this.page = page;
    this.server = server;
    this.session = page.getByRole('region', { name: 'Session' });
    this.campaigns = page.getByRole('region', { name: 'Campaigns' });
    this.websites = page.getByRole('region', { name: 'Websites' });
    this.campaign = page.locator('.campaign');
    this.title = this.campaign.getByRole('heading', { level: 2 });
    this.state = this.campaign.locator('.standing .state');
    this.alert = this.campaign.locator(':scope > .error, :scope > header > .error');
    this.figures = page.getByRole('region', { name: 'Figures', exact: true });
    this.keywords = page.getByRole('list', { name: 'Keywords' });
    this.ads = page.getByRole('list', { name: 'Ads', exact: true }).getByRole('article');
    this.why = page.getByRole('form', { name: 'Eligibility' });
    this.answer = page.getByRole('region', { name: 'Eligibility' });
    this.try = page.getByRole('form', { name: 'Try a slot' });
    this.served = page.getByRole('list', { name: 'Served ads' }).getByRole('article');
    this.asked = page.getByRole('list', { name: 'Requests' }).getByRole('listitem');
  }

  async load(hash = '') {
    await this.page.goto(`${this.server.origin}/ads${hash}`);
  }

  async open(id) {
    await this.load(`#${new URLSearchParams({ campaign: id })}`);
    await this.title.waitFor();
  }

  form(name) {
    return this.page.getByRole('form', { name, exact: true });
  }

  // The label of a select contains its options.
  field(form, label) {
    return form.getByLabel(label, { exact: true }).or(form.getByRole('combobox', { name: label, exact: true }));
  }

  button(name, within = this.page) {
    return within.getByRole('button', { name, exact: true });
  }

  async logIn(login = this.server.login, password = this.server.password) {
    await this.page.getByLabel('Login', { exact: true }).fill(login);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.button('Log in').click();
    await this.button('Log out').waitFor();
  }

  async side(name) {
    await this.page.getByRole('radio', { name, exact: true }).check({ force: true });
  }

  // Fills the fields of a form by their labels: a text, or an option of a select.
  async fill(form, fields) {
    for (const [label, text] of Object.entries(fields)) {
      const field = this.field(form, label);
      if ((await field.evaluate(({ tagName }) => tagName)) === 'SELECT') await field.selectOption({ label: text });
      else await field.fill(text);
    }
  }

  async send(form, fields, button) {
    await this.fill(form, fields);
    await this.button(button, form).click();
  }

  // Waits for a state.
  stands(state) {
    return this.state.getByText(state, { exact: true }).waitFor();
  }

  // The value of a name in a list of facts.
  fact(name, within = this.campaign.locator(':scope > .facts')) {
    return within.locator('div').filter({ has: this.page.locator('dt').getByText(name, { exact: true }) }).locator('dd').innerText();
  }

  // The description of a field: its error.
  async fieldError(form, label) {
    const field = this.field(form, label);
    await form.locator('.error.beside').first().waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true', label);
    const ids = (await field.getAttribute('aria-describedby')).split(' ');
    return this.page.locator(`[id='${ids.at(-1)}']`).innerText();
  }

  plot(title) {
    return this.figures.getByRole('img', { name: title });
  }

  // The rows of the table, latest day first, each as the texts of its cells.
  async table() {
    const rows = await this.figures.locator('tbody tr').all();
    return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
  }

  // Requests ads and waits for the response in the list. Returns its text.
  async ask(fields = {}) {
    const before = await this.asked.count();
    await this.send(this.try, fields, 'Request ads');
    await this.asked.nth(before).waitFor();
    return (await this.asked.first().innerText()).split(': ').at(-1);
  }
}
