// Reads deleted comments and their ancestors again: the tombstone of a comment goes with its last reply. A read that fails is repeated when the
// connection is live again.
import type { Client } from 'urql';
import { read } from '../api/read.ts';
import { ThreadCommentsDocument } from './operations/Comments.generated.ts';
import type { CommentTree } from './tree.ts';

// The most ids that `nodes` takes.
const MAX_NODES = 100;

export class Recheck {
  #ids = new Set<string>();
  #statusId: string;
  #tree: CommentTree;
  // The result of a read that began before the last clear is ignored.
  #round = 0;
  #client!: Client;
  #change!: (act: () => void) => void;
  #onCount!: (count: number) => void;

  constructor(statusId: string, tree: CommentTree) {
    this.#statusId = statusId;
    this.#tree = tree;
  }

  use(client: Client, change: (act: () => void) => void, onCount: (count: number) => void): void {
    [this.#client, this.#change, this.#onCount] = [client, change, onCount];
  }

  add(id: string): void {
    this.#ids.add(id);
  }

  clear(): void {
    this.#round++;
    this.#ids.clear();
  }

  run(): void {
    if (this.#ids.size > 0) void this.#read();
  }

  async #read(): Promise<void> {
    const round = this.#round;
    const [deleted, ids] = [[...this.#ids], this.#concerned()];
    const result = await read(this.#client, ThreadCommentsDocument, { ids, statusId: this.#statusId }).catch(() => null);
    if (!result || round !== this.#round) return;
    for (const id of deleted) if (ids.includes(id) || !this.#tree.comment(id)) this.#ids.delete(id);
    this.#change(() =>
      ids.forEach((id, at) => {
        const node = result.nodes[at];
        if (node?.__typename === 'Comment') this.#tree.update(node);
        else this.#tree.remove(id);
      }),
    );
    if (result.node?.__typename === 'Status') this.#onCount(result.node.commentCount);
    this.run();
  }

  // As many comments as one read takes, each with its ancestors.
  #concerned(): string[] {
    const ids = new Set<string>();
    for (const id of this.#ids) {
      const more = this.#tree.withAncestors(id).filter((it) => !ids.has(it));
      if (ids.size + more.length <= MAX_NODES) more.forEach((it) => ids.add(it));
    }
    return [...ids];
  }
}
