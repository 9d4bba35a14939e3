// The comments of a thread as nested lists. Pages append comments in reading order; events insert comments by the sort order. Comments are identified
// by id, so that an insertion is idempotent.
import type { CommentSort } from '../api/schema.generated.ts';
import type { SharedCommentFragment } from './fragments/SharedComment.generated.ts';
import type { ThreadCommentFragment as Comment } from './fragments/ThreadComment.generated.ts';
import { isBefore } from './order.ts';

interface Node {
  comment: Comment;
  replies: string[];
  // Inserted by an event, and not yet part of a page.
  isBeyondPages: boolean;
}

export class CommentTree {
  readonly roots: string[] = [];
  #nodes = new Map<string, Node>();
  #collapsed = new Set<string>();
  #sort: CommentSort = 'TOP';
  #hasMore = false;
  // The last comment that a page appended: the next page may have replies to it and to its ancestors.
  #last: string | null = null;

  get size(): number {
    return this.#nodes.size;
  }

  clear(): void {
    this.#nodes.clear();
    this.#collapsed.clear();
    this.roots.length = 0;
    this.#last = null;
    this.#hasMore = false;
  }

  // Replaces all comments.
  reset(comments: readonly Comment[], sort: CommentSort, hasMore: boolean): void {
    const ids = new Set(comments.map(({ id }) => id));
    for (const id of this.#nodes.keys()) if (!ids.has(id)) this.remove(id);
    this.#sort = sort;
    this.#last = null;
    for (const node of this.#nodes.values()) node.isBeyondPages = true;
    this.append(comments, hasMore);
  }

  // Appends the next page after the pages before it, and before comments that only events have inserted.
  append(comments: readonly Comment[], hasMore: boolean): void {
    for (const comment of comments) this.#appendOne(comment);
    this.#last = comments.at(-1)?.id ?? this.#last;
    this.#hasMore = hasMore;
  }

  // Inserts a new comment if its place is on the page. Returns whether it was added.
  add(comment: Comment | SharedCommentFragment): boolean {
    const isNew = this.#upsert(comment, true);
    const parent = isNew && comment.parent && this.#nodes.get(comment.parent.id);
    if (parent) parent.comment = { ...parent.comment, replyCount: parent.comment.replyCount + 1 };
    return isNew;
  }

  // Applies a change. A vote may move a comment before the last page, and no page would have it then.
  update(comment: Comment | SharedCommentFragment): void {
    this.#upsert(comment, false);
  }

  // Removes a comment and its descendants.
  remove(id: string): void {
    const node = this.#nodes.get(id);
    if (!node) return;
    const above = node.comment.parent?.id;
    const list = this.#listOf(above);
    list?.splice(list.indexOf(id), 1);
    for (const gone of [id, ...this.descendants(id)]) {
      this.#nodes.delete(gone);
      this.#collapsed.delete(gone);
      // Pages continue from a cursor, not from a comment. Its ancestors may still get replies.
      if (this.#last === gone) this.#last = above ?? null;
    }
  }

  comment(id: string | undefined): Comment | undefined {
    return id === undefined ? undefined : this.#nodes.get(id)?.comment;
  }

  replies(id: string): readonly string[] {
    return this.#nodes.get(id)?.replies ?? [];
  }

  // The descendants of a comment.
  descendants(id: string): string[] {
    return this.replies(id).flatMap((reply) => [reply, ...this.descendants(reply)]);
  }

  // A comment and its ancestors, from the bottom up; empty for an unknown comment.
  withAncestors(id: string | undefined | null): string[] {
    const comment = this.comment(id ?? undefined);
    return comment ? [comment.id, ...this.withAncestors(comment.parent?.id)] : [];
  }

  isCollapsed(id: string): boolean {
    return this.#collapsed.has(id);
  }

  toggle(id: string): void {
    if (!this.#collapsed.delete(id)) this.#collapsed.add(id);
  }

  // Expands its ancestors.
  expandTo(id: string): void {
    for (const above of this.withAncestors(this.comment(id)?.parent?.id)) this.#collapsed.delete(above);
  }

  // Whether later pages may have replies to it.
  mayHaveMore(id: string): boolean {
    return this.#hasMore && this.#isOpen(id);
  }

  // Updates a known comment, or inserts a new one.
  #upsert(comment: Comment | SharedCommentFragment, isAdded: boolean): boolean {
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
    const isBeyondPages = this.#hasMore && this.#isOpen(comment.parent?.id) && (next === undefined || this.#node(next).isBeyondPages);
    if (isBeyondPages && !isAdded) return false;
    this.#nodes.set(comment.id, { comment: whole, replies: [], isBeyondPages });
    list.splice(at < 0 ? list.length : at, 0, comment.id);
    return true;
  }

  #appendOne(comment: Comment): void {
    const list = this.#listOf(comment.parent?.id);
    // Its parent has been deleted with the replies.
    if (!list) return;
    const known = this.#nodes.get(comment.id);
    const node = known ?? { comment, replies: [], isBeyondPages: true };
    node.comment = comment;
    this.#nodes.set(comment.id, node);
    if (!node.isBeyondPages) return;
    node.isBeyondPages = false;
    const before = list.indexOf(comment.id);
    if (before >= 0) list.splice(before, 1);
    const at = list.findIndex((id) => this.#node(id).isBeyondPages);
    list.splice(at < 0 ? list.length : at, 0, comment.id);
  }

  #isOpen(id: string | undefined): boolean {
    return id === undefined || this.withAncestors(this.#last).includes(id);
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
