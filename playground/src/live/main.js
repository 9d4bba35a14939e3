// The entry of the live page: what is chosen decides what is followed, and whatever changes that choice begins anew.
import '../theme.css';
import '../session/session.css';
import '../page.css';
import './live.css';
import './thread.css';
import { sessionBar } from '../session/session-bar.js';
import { current, endSession, subscribe } from '../session/store.js';
import { deletesIn } from './delete.js';
import { followHome, followPublic } from './feeds.js';
import { Filters } from './filters.js';
import { postBox } from './post-box.js';
import { StatusLine } from './status-line.js';
import { linkThread, onThread, openThread } from './thread-link.js';
import { Thread } from './thread.js';
import { Timeline } from './timeline.js';
import { gapText } from './words.js';

const by = (id) => document.getElementById(id);
const source = by('source');
const timeline = new Timeline({ list: by('timeline'), empty: by('empty'), newer: by('newer'), announcer: by('announcer') });
const filters = new Filters(by('filter'), start);
const posting = postBox(by('post'));
const line = new StatusLine(by('state'), again);
const thread = new Thread(by('thread'), { onCount: (id, count) => timeline.count(id, count), onClose: () => linkThread(null) });
let followed = null;
let phase = null;
let session = null;

// Begins anew with what is chosen.
function start() {
  followed?.stop();
  timeline.clear();
  line.forgetGap();
  const { token } = current().session ?? {};
  const isHome = source.elements.source.value === 'home';
  by('filter').hidden = isHome;
  by('empty').textContent = isHome ? 'Nothing is in your home yet.' : 'Nothing yet. What is posted from now on shows here.';
  const shown = { timeline, onState: isHome ? onHome(token) : onPublic, onGap: (reason) => line.gap(gapText(reason)) };
  followed = isHome ? followHome(token, shown) : followPublic(filters.asked(), shown);
}

function show(state) {
  phase = state.phase;
  line.show(state);
}

// The server may know before the page that a session has ended. What it showed is nobody's business then.
const onHome = (token) => (state) => {
  show(state);
  if (state.phase !== 'login') return;
  timeline.clear();
  endSession(token, 'The session has ended. Log in again.');
};

// What a person can mend is told where they can.
function onPublic(state) {
  const isFilter = state.phase === 'refused' && ['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED'].includes(state.code);
  show(isFilter ? { phase: 'refused', message: 'The filter was refused.' } : state);
  if (!isFilter) return;
  by('empty').textContent = '';
  filters.refuse(state.message);
}

// Somebody does not want to wait, or wants what was refused once more.
function again() {
  if (phase === 'refused') start();
  else followed.now();
}

// Logging in leads home, logging out away from it. A session that has ended leaves the question where it was.
function sessionChanged() {
  const before = session;
  session = current().session;
  if (session === before) return;
  timeline.belongsTo(session?.user ?? null);
  thread.belongsTo(session?.user ?? null);
  posting.show(Boolean(session));
  by('home').disabled = !session;
  if (session) choose('home');
  else if (before && source.elements.source.value === 'home') leaveHome();
}

function leaveHome() {
  if (current().notice) {
    followed?.stop();
    timeline.clear();
    return show({ phase: 'login' });
  }
  choose('public');
}

function choose(name) {
  source.elements.source.value = name;
  start();
}

// The address says which thread is open. Whoever comes back to the timeline finds it where they left it.
let left = { top: 0, id: null };
function threadChanged() {
  const id = openThread();
  if (id && !left.id) left.top = scrollY;
  thread.open(id);
  by('columns').classList.toggle('with-thread', Boolean(id));
  timeline.threadChanged();
  if (id) thread.focus();
  else if (left.id) backTo(left.id);
  left.id = id;
}

function backTo(id) {
  scrollTo(0, left.top);
  const button = document.querySelector(`#timeline [data-id='${CSS.escape(id)}'] .comments`);
  (button ?? by('timeline')).focus({ preventScroll: true });
}

by('timeline').addEventListener('click', ({ target }) => {
  if (!target.matches('.comments')) return;
  const { id } = target.closest('[data-id]').dataset;
  linkThread(openThread() === id ? null : id);
});
onThread(threadChanged);
deletesIn(by('timeline'));
source.addEventListener('change', start);
subscribe(sessionChanged);
sessionBar(by('session'));
sessionChanged();
if (!session) choose('public');
threadChanged();
