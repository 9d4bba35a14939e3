// The playground as its visitor handles it: by labels, roles and what the editors show.
// Variables and headers share a region, one of their editors being hidden.
const SHOWN = '.graphiql-editor:not(.hidden) .CodeMirror';

export class Playground {
  constructor(page, url) {
    this.page = page;
    this.url = url;
    this.alert = page.getByRole('alert');
    this.status = page.getByRole('region', { name: 'Session' }).getByRole('status');
  }

  // Opens the page and waits until GraphiQL knows the schema, where it is GraphiQL.
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

  // The active tab's name has that of its closing button in it.
  tab(name) {
    return this.page.getByRole('tab').filter({ has: this.button(name) });
  }

  // A click on the active tab would bring back what it held before the last keystrokes.
  async select(name) {
    if ((await this.tab(name).getAttribute('aria-selected')) !== 'true') await this.button(name).click();
    await this.page.waitForFunction(isKnown, name);
  }

  async logIn(login, password) {
    await this.page.getByLabel('Login', { exact: true }).fill(login);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.button('Log in').click();
  }

  // Runs a tab's operation and gives what the response pane shows once the server has answered.
  async run(name) {
    await this.select(name);
    const answered = this.page.waitForResponse((response) => nameOf(response.request()) === name);
    await this.execute().click();
    const answer = await (await answered).json();
    await this.page.waitForFunction(isShown, JSON.stringify(answer));
    return answer;
  }

  // Writes into the pane of variables or headers that is in front.
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

// Runs inside the page. GraphiQL reads the name of the operation a moment after the tab has changed.
function isKnown(name) {
  return document.querySelector('.graphiql-query-editor .CodeMirror')?.CodeMirror.operationName === name;
}

// Runs inside the page. The editor draws only the lines in sight, so that its text is asked of itself.
function isShown(expected) {
  const text = document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue();
  try {
    return JSON.stringify(JSON.parse(text)) === expected;
  } catch {
    return false;
  }
}
