// Who is asking, and the way to change that: a log-in, a token that one has, or the demo's button. The session is GraphiQL's too.
import { fetchDemo } from '../demo.js';
import { adoptToken, checkSession, logIn, logOut } from './actions.js';
import { current, subscribe } from './store.js';

export function sessionBar(section) {
  const part = (name) => section.querySelector(`.${name}`);
  const [byPassword, byToken, loggedIn, notice] = ['by-password', 'by-token', 'logged-in', 'notice'].map(part);
  const demoButton = part('demo');
  let wantsToken = false;
  let busy = false;
  let before = null;

  async function run(action) {
    if (busy) return;
    busy = true;
    section.setAttribute('aria-busy', 'true');
    await action();
    busy = false;
    section.removeAttribute('aria-busy');
  }

  function show() {
    const { session, notice: said } = current();
    notice.textContent = said ?? '';
    notice.hidden = !said;
    loggedIn.hidden = !session;
    byPassword.hidden = Boolean(session) || wantsToken;
    byToken.hidden = Boolean(session) || !wantsToken;
    part('who').textContent = session ? `${session.user.name} (${session.user.login})` : '';
    // What one logged in with, or out by, is gone from the page: the keyboard goes on here.
    if (before !== session && document.activeElement === document.body) section.focus();
    if (session) for (const form of [byPassword, byToken]) form.reset();
    before = session;
  }

  function onSubmit(form, action) {
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const fields = new FormData(form);
      void run(() => action(fields));
    });
  }

  function toggle() {
    wantsToken = !wantsToken;
    show();
    (wantsToken ? byToken : byPassword).querySelector('input').focus();
  }

  onSubmit(byPassword, (fields) => logIn(fields.get('login'), fields.get('password')));
  onSubmit(byToken, (fields) => adoptToken(fields.get('token')));
  for (const button of section.querySelectorAll('.toggle')) button.addEventListener('click', toggle);
  part('log-out').addEventListener('click', () => void run(logOut));
  before = current().session;
  subscribe(show);
  show();
  void checkSession();
  void fetchDemo().then((demo) => {
    if (!demo) return;
    demoButton.textContent = `Log in as ${demo.login}`;
    demoButton.hidden = false;
    demoButton.addEventListener('click', () => void run(() => logIn(demo.login, demo.password)));
  });
}
