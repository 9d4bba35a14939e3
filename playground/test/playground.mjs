// The playground as its users handle it: by labels, roles and the texts of the editors. Variables and headers share a region, in which one editor is
// hidden.
const SHOWN = '.graphiql-editor:not(.hidden) .CodeMirror';

export class Playground {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    this.alert = page.getByRole('alert');
    this.status = page.getByRole('region', { name: 'Session' }).getByRole('status');
  }

  // Opens a page. On GraphiQL, waits until the schema is loaded.
  async load(path = '/') {
    if (!['/', '/graphql'].includes(path)) return this.page.goto(new URL(path, this.url).href);
    const schema = this.page.waitForResponse((response) => nameOf(response.request()) === 'IntrospectionQuery');
    await this.page.goto(new URL(path, this.url).href);
    await schema;
    await this.execute().waitFor();
  }

  button(name) {
    return this.page.getByRole('button', { name, exact: true });
  }

  execute() {
    return this.page.getByRole('button', { name: /^Execute query/ });
  }

  // The name of the active tab includes that of its close button.
  tab(name) {
    return this.page.getByRole('tab').filter({ has: this.button(name) });
  }

  // A click on the active tab would undo the last keystrokes.
  async select(name) {
    if ((await this.tab(name).getAttribute('aria-selected')) !== 'true') await this.button(name).click();
    await this.page.waitForFunction(isKnown, name);
  }

  async logIn(login, password) {
    await this.page.getByLabel('Login', { exact: true }).fill(login);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.button('Log in').click();
  }

  // Runs the operation of a tab and returns the response, when the response pane has it.
  async run(name) {
    await this.select(name);
    const arrival = this.page.waitForResponse((response) => nameOf(response.request()) === name);
    await this.execute().click();
    const result = await (await arrival).json();
    await this.page.waitForFunction(isShown, JSON.stringify(result));
    return result;
  }

  // Writes into the pane of variables or headers.
  async writeTool(pane, text) {
    await this.button(pane).click();
    await this.page.getByRole('region', { name: pane }).locator(SHOWN).click();
    await this.page.keyboard.press('Control+A');
    await this.page.keyboard.insertText(text);
  }

  shownVariables() {
    const editor = this.page.getByRole('region', { name: 'Variables' }).locator(SHOWN);
    return editor.evaluate((element) => element.CodeMirror.getValue());
  }
}

function nameOf(request) {
  return request.method() === 'POST' ? request.postDataJSON()?.operationName : null;
}

// Runs in the page. GraphiQL reads the name of the operation a moment after the tab has changed.
function isKnown(name) {
  return document.querySelector('.graphiql-query-editor .CodeMirror')?.CodeMirror.operationName === name;
}

// Runs in the page. The editor renders visible lines only, so its value is read.
function isShown(expected) {
  const text = document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue();
  try {
    return JSON.stringify(JSON.parse(text)) === expected;
  } catch {
    return false;
  }
}
