// The comments of a thread as lists within lists. Pages put them in as they are read, in reading order; events find their place by themselves.
// Everything goes by ids: what is put in twice is there once.
import type { CommentSort } from '../api/schema.generated.ts';
import type { SharedCommentFragment } from './fragments/SharedComment.generated.ts';
import type { ThreadCommentFragment as Comment } from './fragments/ThreadComment.generated.ts';
import { isBefore } from './order.ts';

interface Node {
  comment: Comment;
  replies: string[];
  // It came by an event before a page has reached it.
  isAhead: boolean;
}

export class CommentTree {
  readonly roots: string[] = [];
  #nodes = new Map<string, Node>();
  #folded = new Set<string>();
  #sort: CommentSort = 'TOP';
  #hasMore = false;
  // The last comment that a page has put in: pages may go on below it, and below those above it.
  #last: string | null = null;

  get size(): number {
    return this.#nodes.size;
  }

  clear(): void {
    this.#nodes.clear();
    this.#folded.clear();
    this.roots.length = 0;
    this.#last = null;
    this.#hasMore = false;
  }

  // Shows these and nothing else.
  show(comments: readonly Comment[], sort: CommentSort, hasMore: boolean): void {
    const ids = new Set(comments.map(({ id }) => id));
    for (const id of this.#nodes.keys()) if (!ids.has(id)) this.remove(id);
    this.#sort = sort;
    this.#last = null;
    for (const node of this.#nodes.values()) node.isAhead = true;
    this.append(comments, hasMore);
  }

  // The next page: behind the pages before it, before what is ahead.
  append(comments: readonly Comment[], hasMore: boolean): void {
    for (const comment of comments) this.#lay(comment);
    this.#last = comments.at(-1)?.id ?? this.#last;
    this.#hasMore = hasMore;
  }

  // Puts a new comment in its place, where that is shown; whether it was not there before.
  add(comment: Comment | SharedCommentFragment): boolean {
    const isNew = this.#put(comment, true);
    const above = isNew && comment.parent && this.#nodes.get(comment.parent.id);
    if (above) above.comment = { ...above.comment, replyCount: above.comment.replyCount + 1 };
    return isNew;
  }

  // Takes a change over. A vote may have moved a comment to before where the pages are, which would then never bring it.
  refresh(comment: Comment | SharedCommentFragment): void {
    this.#put(comment, false);
  }

  // Removes a comment and all below it.
  remove(id: string): void {
    const node = this.#nodes.get(id);
    if (!node) return;
    const above = node.comment.parent?.id;
    const list = this.#listOf(above);
    list?.splice(list.indexOf(id), 1);
    for (const gone of [id, ...this.below(id)]) {
      this.#nodes.delete(gone);
      this.#folded.delete(gone);
      // Pages continue from a cursor, not from a comment; what is open above it stays open.
      if (this.#last === gone) this.#last = above ?? null;
    }
  }

  comment(id: string | undefined): Comment | undefined {
    return id === undefined ? undefined : this.#nodes.get(id)?.comment;
  }

  replies(id: string): readonly string[] {
    return this.#nodes.get(id)?.replies ?? [];
  }

  // All comments below one, at any depth.
  below(id: string): string[] {
    return this.replies(id).flatMap((reply) => [reply, ...this.below(reply)]);
  }

  // A comment and those above it, from the bottom up; none of one that is not shown.
  lineage(id: string | undefined | null): string[] {
    const comment = this.comment(id ?? undefined);
    return comment ? [comment.id, ...this.lineage(comment.parent?.id)] : [];
  }

  isFolded(id: string): boolean {
    return this.#folded.has(id);
  }

  fold(id: string): void {
    if (!this.#folded.delete(id)) this.#folded.add(id);
  }

  // Unfolds all that is above it.
  reveal(id: string): void {
    for (const above of this.lineage(this.comment(id)?.parent?.id)) this.#folded.delete(above);
  }

  // Whether pages still to come may hold replies to it.
  isCut(id: string): boolean {
    return this.#hasMore && this.#isOpen(id);
  }

  // What a comment that is there shows changes in any case; a new one finds its place.
  #put(comment: Comment | SharedCommentFragment, isAdded: boolean): boolean {
    const known = this.#nodes.get(comment.id);
    if (known) {
      known.comment = { ...known.comment, ...comment } as Comment;
      return false;
    }
    const list = this.#listOf(comment.parent?.id);
    if (!list) return false;
    const whole: Comment = { viewerVote: 'NONE', ...comment };
    const at = list.findIndex((id) => isBefore(this.#sort, whole, this.#node(id).comment));
    const next = list[at];
    const isAhead = this.#hasMore && this.#isOpen(comment.parent?.id) && (next === undefined || this.#node(next).isAhead);
    if (isAhead && !isAdded) return false;
    this.#nodes.set(comment.id, { comment: whole, replies: [], isAhead });
    list.splice(at < 0 ? list.length : at, 0, comment.id);
    return true;
  }

  #lay(comment: Comment): void {
    const list = this.#listOf(comment.parent?.id);
    // What it replies to was deleted with its branch since.
    if (!list) return;
    const known = this.#nodes.get(comment.id);
    const node = known ?? { comment, replies: [], isAhead: true };
    node.comment = comment;
    this.#nodes.set(comment.id, node);
    if (!node.isAhead) return;
    node.isAhead = false;
    const before = list.indexOf(comment.id);
    if (before >= 0) list.splice(before, 1);
    const at = list.findIndex((id) => this.#node(id).isAhead);
    list.splice(at < 0 ? list.length : at, 0, comment.id);
  }

  #isOpen(id: string | undefined): boolean {
    return id === undefined || this.lineage(this.#last).includes(id);
  }

  #listOf(parent: string | undefined): string[] | undefined {
    return parent === undefined ? this.roots : this.#nodes.get(parent)?.replies;
  }

  #node(id: string): Node {
    const node = this.#nodes.get(id);
    if (!node) throw new Error('a comment in a list is in the tree');
    return node;
  }
}
