// The comments of a thread, each with the replies to it.
import type { CommentActions } from './useCommentActions.ts';
import { CommentItem } from './CommentItem.tsx';
import type { ThreadState } from './useThread.ts';

// The greatest depths that are indented, on a phone and elsewhere: see thread.css.
const [DEEP, DEEPER] = [5, 10];

interface Props {
  thread: ThreadState;
  acts: CommentActions;
}

export function Comments({ thread, acts }: Props) {
  const item = (id: string) => {
    const { tree, arrived } = thread;
    const comment = tree.comment(id);
    if (!comment) return null;
    const { depth, isDeleted, isHidden } = comment;
    const marks = {
      deep: depth >= DEEP,
      deeper: depth >= DEEPER,
      gone: isDeleted || isHidden,
      collapsed: tree.isCollapsed(id),
      new: arrived.includes(id),
    };
    const names = Object.entries(marks).flatMap(([name, is]) => (is ? [name] : []));
    return (
      <li key={id} data-id={id} className={['comment', ...names].join(' ')}>
        <CommentItem comment={comment} thread={thread} acts={acts} />
        <ol className="replies">{tree.replies(id).map(item)}</ol>
      </li>
    );
  };
  return (
    <ol ref={thread.list} className="comments-list" aria-label="Comments" tabIndex={-1}>
      {thread.tree.roots.map(item)}
    </ol>
  );
}
