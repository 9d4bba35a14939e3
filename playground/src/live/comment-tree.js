// The comments of a thread as lists within lists. Pages put them in as they are read, in reading order; what happens meanwhile finds its place
// by itself. Everything goes by ids: what is put in twice is there once.
import { allow, commentElement, write } from './comment.js';
import { isBefore } from './order.js';

export class CommentTree {
  #list;
  // Id to { comment, element, isAhead }. What is ahead was told before a page has come to it.
  #held = new Map();
  #sort;
  #hasMore = false;
  // The last one that a page has put in: below it, and below those above it, pages may go on.
  #last = null;
  #viewer = null;
  #owner = null;

  constructor(list) {
    this.#list = list;
  }

  get size() {
    return this.#held.size;
  }

  clear() {
    this.#held.clear();
    this.#list.replaceChildren();
    this.#last = null;
  }

  // Who looks at it, and whose status it is under.
  belongsTo(viewer, owner) {
    [this.#viewer, this.#owner] = [viewer, owner];
    for (const id of this.#held.keys()) this.#allow(id);
  }

  // Shows these and nothing else. What is there already is kept, with what is folded or being written in it.
  show(comments, sort, hasMore) {
    const ids = new Set(comments.map(({ id }) => id));
    for (const id of this.#held.keys()) if (!ids.has(id)) this.remove(id);
    this.#sort = sort;
    this.#last = null;
    for (const held of this.#held.values()) held.isAhead = true;
    const focused = document.activeElement;
    this.more(comments, hasMore);
    // What is moved loses the keyboard's focus.
    if (focused.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
  }

  // The next page.
  more(comments, hasMore) {
    for (const comment of comments) this.#lay(comment);
    this.#last = comments.at(-1)?.id ?? this.#last;
    this.#hasMore = hasMore;
    for (const id of this.#held.keys()) this.#allow(id);
  }

  // One that was added, in its place, where that is shown. Gives its element, or null when it was there.
  add(comment) {
    const element = this.#put(comment, true);
    const above = element && this.comment(comment.parent?.id);
    if (above) above.replyCount++;
    return element;
  }

  // One that has changed. A vote may have moved it to before where the pages are, which would then never bring it.
  refresh(comment) {
    this.#put(comment, false);
  }

  // It, and all below it.
  remove(id) {
    const held = this.#held.get(id);
    if (!held) return;
    const above = held.comment.parent?.id;
    // Whoever had the keyboard's focus in it goes on above it.
    const focused = held.element.contains(document.activeElement) && (this.#held.get(above)?.element.querySelector('article') ?? this.#list);
    for (const { dataset } of [held.element, ...held.element.querySelectorAll('.comment')]) {
      this.#held.delete(dataset.id);
      // Pages go on from a cursor, not from it; what is open above it stays so.
      if (this.#last === dataset.id) this.#last = above ?? null;
    }
    held.element.remove();
    focused?.focus?.({ preventScroll: true });
    if (above) this.#allowFrom(above);
  }

  comment(id) {
    return this.#held.get(id)?.comment;
  }

  // A comment and those above it, from the bottom up; none of one that is not shown.
  lineage(id) {
    const held = this.#held.get(id);
    return held ? [id, ...this.lineage(held.comment.parent?.id)] : [];
  }

  fold(id) {
    this.#held.get(id).element.classList.toggle('folded');
    this.#allow(id);
  }

  #put(comment, isAdded) {
    const known = this.#held.get(comment.id);
    if (known) return this.#change(known, comment);
    const above = comment.parent?.id;
    const list = this.#listOf(above);
    if (!list) return null;
    const next = this.#in(list).find((other) => isBefore(this.#sort, comment, other.comment));
    const isAhead = this.#hasMore && this.#isOpen(above) && (!next || next.isAhead);
    if (isAhead && !isAdded) return null;
    const { element } = this.#hold(comment, isAhead);
    list.insertBefore(element, next?.element ?? null);
    this.#allowFrom(comment.id);
    return element;
  }

  #change(held, comment) {
    Object.assign(held.comment, comment);
    this.#write(held);
    this.#allowFrom(comment.id);
    return null;
  }

  // Pages come in order: each behind those before it, before what is ahead.
  #lay(comment) {
    const list = this.#listOf(comment.parent?.id);
    // What it replies to was deleted with its branch since.
    if (!list) return;
    const held = this.#held.get(comment.id) ?? this.#hold(comment, true);
    Object.assign(held.comment, comment);
    this.#write(held);
    if (!held.isAhead) return;
    const next = this.#in(list).find((other) => other.isAhead);
    held.isAhead = false;
    if (next !== held) list.insertBefore(held.element, next?.element ?? null);
  }

  #hold(comment, isAhead) {
    const held = { comment: { ...comment }, element: commentElement(comment), isAhead };
    this.#held.set(comment.id, held);
    this.#write(held);
    return held;
  }

  #write({ comment, element }) {
    write(element, comment, this.#held.get(comment.parent?.id)?.comment);
  }

  #allowFrom(id) {
    for (const above of this.lineage(id)) this.#allow(above);
  }

  #allow(id) {
    const { comment, element } = this.#held.get(id);
    const below = [...element.querySelectorAll('.comment')].map(({ dataset }) => this.#held.get(dataset.id).comment);
    const isTheirStatus = Boolean(this.#viewer) && this.#viewer.id === this.#owner;
    comment.isCut = this.#hasMore && this.#isOpen(id);
    allow(element, { comment, viewer: this.#viewer, isTheirStatus, below });
  }

  // Whether pages still to come may hold replies to it.
  #isOpen(id) {
    return id === undefined || this.lineage(this.#last).includes(id);
  }

  #in(list) {
    return [...list.children].map(({ dataset }) => this.#held.get(dataset.id));
  }

  #listOf(parent) {
    return parent === undefined ? this.#list : this.#held.get(parent)?.element.querySelector(':scope > .replies');
  }
}
