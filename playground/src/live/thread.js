// The thread of one status: read, followed, written into. It goes on where it stopped as the timeline does (resume.js).
import { ask } from './ask.js';
import { card } from './card.js';
import { addComment, closeBoxes, commentActs, MOST } from './comment-acts.js';
import { CommentTree } from './comment-tree.js';
import { deletesIn } from './delete.js';
import { inPlace } from './in-place.js';
import { request } from './operations.js';
import { resume } from './resume.js';
import { StatusLine } from './status-line.js';
import { Unseen } from './unseen.js';
import { threadGapText } from './words.js';
import { WritingBox } from './writing-box.js';

// What comes in quick succession is put in at once.
const TOGETHER_MS = 50;
// The most ids that `nodes` takes.
const NODES = 100;
// Who reads on after a gap, or in another order, sees as many as before: as long as that takes no more pages than these.
const PAGES = 10;
const GONE = [{ message: 'There is no such status: it may have been deleted.', extensions: { code: 'NOT_FOUND' } }];
const NUMBER = new Intl.NumberFormat();

export class Thread {
  #section;
  #part;
  #tree;
  #line;
  #box;
  #unseen;
  #onCount;
  #viewer = null;
  #status = null;
  #followed = null;
  #phase = null;
  #after = null;
  #told = [];
  #flush = null;
  // Comments that are to be looked at anew.
  #stale = new Set();
  // The reading that counts: of one that was begun before, nothing is wanted any more.
  #reading = 0;

  // onCount: a status has so many comments. onClose: somebody wants to leave.
  constructor(section, { onCount, onClose }) {
    this.#section = section;
    this.#part = (name) => section.querySelector(`.${name}`);
    this.#onCount = onCount;
    const list = this.#part('comments-list');
    this.#tree = new CommentTree(list);
    this.#line = new StatusLine(this.#part('state'), () => this.#again());
    this.#unseen = new Unseen(this.#part('newer'), (id) => this.#reveal(id));
    this.#box = new WritingBox(this.#part('top-box'), { most: MOST, act: (message, key) => this.#add(message, key) });
    commentActs(list, this.#tree, { onAdded: (comment) => this.#own(comment), onDeleted: (id) => this.#lookAt(id) });
    deletesIn(this.#part('subject'));
    this.#part('close').addEventListener('click', onClose);
    this.#part('more').addEventListener('click', () => void this.#readOn());
    section.querySelector('select').addEventListener('change', () => this.#follow());
  }

  // Opens the thread of a status; null closes it.
  open(statusId) {
    if (statusId === this.#status) return;
    this.#leave();
    this.#status = statusId;
    this.#section.hidden = !statusId;
    if (statusId) this.#follow();
  }

  focus() {
    this.#section.querySelector('h2').focus();
  }

  // Who looks at it, which decides what they see of their votes and what they may do; null for nobody.
  belongsTo(viewer) {
    this.#viewer = viewer;
    closeBoxes(this.#section);
    this.#box.show(Boolean(viewer));
    this.#part('who-may').hidden = Boolean(viewer);
    if (this.#status) this.#follow();
  }

  #leave() {
    this.#followed?.stop();
    this.#followed = null;
    this.#empty();
    this.#box.write('');
    this.#line.forgetGap();
  }

  #empty() {
    this.#reading++;
    this.#forgetTold();
    this.#tree.clear();
    this.#unseen.clear();
    this.#part('subject').replaceChildren();
    this.#part('total').textContent = '';
    this.#after = null;
    this.#settle();
  }

  #forgetTold() {
    clearTimeout(this.#flush);
    this.#flush = null;
    this.#told = [];
    this.#stale.clear();
  }

  // What is told of a thread is the same for everybody: nobody need say who they are.
  #follow() {
    this.#followed?.stop();
    this.#line.forgetGap();
    this.#followed = resume({
      ...request('ThreadEvents', { statusId: this.#status }),
      read: () => this.#read(),
      onEvent: (event) => this.#tell(event),
      onGap: (reason) => this.#line.gap(threadGapText(reason)),
      onState: (state) => this.#show(state),
    });
  }

  // Reads the thread from its beginning, as much of it as is shown, and answers the cursor up to which it did: that of the first page.
  async #read() {
    const reading = ++this.#reading;
    this.#forgetTold();
    const first = await this.#page(null);
    let [{ comments }, { pageInfo }] = [first, first];
    for (let page = 1; page < PAGES && pageInfo.hasNextPage && comments.length < this.#tree.size; page++) {
      const next = await this.#page(pageInfo.endCursor);
      comments = [...comments, ...next.comments];
      pageInfo = next.pageInfo;
    }
    if (reading !== this.#reading) return null;
    this.#showStatus(first.status);
    this.#change(() => this.#tree.show(comments, this.#sort(), pageInfo.hasNextPage));
    this.#after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    this.#settle();
    return first.status.commentThread.syncCursor;
  }

  async #readOn() {
    const [reading, button] = [this.#reading, this.#part('more')];
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    const said = this.#part('more-error');
    const page = await this.#page(this.#after).catch(([{ message }]) => void (said.textContent = message));
    button.removeAttribute('aria-disabled');
    if (!page || reading !== this.#reading) return;
    said.textContent = '';
    this.#change(() => this.#tree.more(page.comments, page.pageInfo.hasNextPage));
    this.#after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    this.#settle();
  }

  async #page(after) {
    const { node: status } = await ask('Thread', { statusId: this.#status, after, sort: this.#sort() });
    if (!status?.commentThread) throw GONE;
    const { edges, pageInfo } = status.commentThread.tree;
    return { status, comments: edges.map(({ node }) => node), pageInfo };
  }

  #showStatus(status) {
    const element = card(status, this.#viewer);
    element.querySelector('.comments').remove();
    this.#part('subject').replaceChildren(element);
    this.#tree.belongsTo(this.#viewer, status.author.id);
    this.#count(status.commentCount);
  }

  #show(state) {
    this.#phase = state.phase;
    this.#line.show(state);
    if (state.phase === 'live') void this.#look();
    if (state.phase === 'refused') void this.#refused();
  }

  // A thread is refused, and what follows it completes, when its status is gone.
  async #refused() {
    const reading = this.#reading;
    const why = await this.#page(null).catch((reason) => reason);
    if (why !== GONE || reading !== this.#reading) return;
    this.#empty();
    this.#line.show({ phase: 'gone', message: GONE[0].message });
  }

  // Somebody does not want to wait, or wants what was refused once more.
  #again() {
    if (this.#phase === 'refused') this.#follow();
    else this.#followed.now();
  }

  // Something happened: it shows within a moment, in the order in which it was told.
  #tell(event) {
    this.#told.push(event);
    this.#flush ??= setTimeout(() => this.#apply(), TOGETHER_MS);
  }

  #apply() {
    this.#flush = null;
    this.#change(() => this.#told.splice(0).forEach((event) => this.#take(event)));
    void this.#look();
  }

  #take({ __typename, comment, commentId }) {
    if (comment?.status) this.#count(comment.status.commentCount);
    if (__typename === 'CommentAdded') this.#arrived(this.#tree.add(comment));
    else if (__typename === 'CommentDeleted') this.#stale.add(commentId);
    else this.#tree.refresh(comment);
  }

  #arrived(element) {
    if (!element) return;
    element.classList.add('new');
    this.#unseen.add(element.querySelector('article'));
    this.#part('announcer').textContent = 'New comments';
  }

  #lookAt(id) {
    this.#stale.add(id);
    void this.#look();
  }

  // Looks anew at what was deleted, and at what stands above it: a place that was kept for replies goes with the last of them. What cannot be
  // had now is asked for again when the connection is live again.
  async #look() {
    if (this.#stale.size === 0) return;
    const reading = this.#reading;
    const [deleted, ids] = [[...this.#stale], this.#concerned()];
    const answer = await ask('Comments', { ids, statusId: this.#status }).catch(() => null);
    if (!answer || reading !== this.#reading) return;
    for (const id of deleted) if (ids.includes(id) || !this.#tree.comment(id)) this.#stale.delete(id);
    this.#change(() => ids.forEach((id, at) => (answer.nodes[at] ? this.#tree.refresh(answer.nodes[at]) : this.#tree.remove(id))));
    if (answer.node) this.#count(answer.node.commentCount);
    if (this.#stale.size > 0) void this.#look();
  }

  // As many as can be asked for at once, each with all that is above it.
  #concerned() {
    const ids = new Set();
    for (const id of this.#stale) {
      const more = this.#tree.lineage(id).filter((it) => !ids.has(it));
      if (ids.size + more.length <= NODES) more.forEach((it) => ids.add(it));
    }
    return [...ids];
  }

  async #add(message, key) {
    return addComment({ statusId: this.#status }, message, key, (comment) => this.#own(comment));
  }

  // One's own is there at once, and in sight.
  #own(comment) {
    this.#tree.add(comment);
    this.#reveal(comment.id);
    const article = this.#section.querySelector(`[data-id='${CSS.escape(comment.id)}'] > article`);
    article?.scrollIntoView({ block: 'nearest' });
    this.#settle();
  }

  // Unfolds what is above it.
  #reveal(id) {
    for (const above of this.#tree.lineage(this.#tree.comment(id)?.parent?.id)) {
      if (this.#section.querySelector(`[data-id='${CSS.escape(above)}']`).matches('.folded')) this.#tree.fold(above);
    }
  }

  // Changes what is shown without moving what is being read.
  #change(change) {
    inPlace(this.#part('comments-list'), change);
    this.#unseen.settle();
    this.#settle();
  }

  #count(count) {
    this.#part('total').textContent = NUMBER.format(count);
    this.#onCount(this.#status, count);
  }

  #settle() {
    this.#part('more').hidden = !this.#after;
    this.#part('nothing').hidden = this.#tree.size > 0 || this.#part('subject').children.length === 0;
  }

  #sort() {
    return this.#section.querySelector('select').value;
  }
}
