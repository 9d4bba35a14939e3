// The thread of one status: the status, a box to comment in, and the comments.
import { use, useEffect, useRef, useState } from 'react';
import type { CommentSort } from '../api/schema.generated.ts';
import { RelationChange } from '../people/usePersonAction.ts';
import { useViewer } from '../session/useSession.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import { StatusCard } from '../statuses/StatusCard.tsx';
import { ConnectionLine } from '../ui/ConnectionLine.tsx';
import { MoreButton } from '../ui/MoreButton.tsx';
import { usePageEscape } from '../ui/onEscape.ts';
import { SortChoice } from '../ui/SortChoice.tsx';
import { WritingBox } from '../ui/WritingBox.tsx';
import { Comments } from './Comments.tsx';
import { MAX_LENGTH, useCommentActions } from './useCommentActions.ts';
import { useThread } from './useThread.ts';
import { articleOf, useUnseen } from './useUnseen.ts';
import './thread.css';

const NUMBER = new Intl.NumberFormat();
const SORTS: Record<CommentSort, string> = { TOP: 'Top', NEW: 'Newest', OLD: 'Oldest', REPLIES: 'Most replies', CONTROVERSIAL: 'Controversial' };

interface Props {
  statusId: string;
  // The status has changed: more comments, another like.
  onStatus?: (change: StatusChange) => void;
  // For a thread beside a timeline.
  onClose?: () => void;
}

export function Thread({ statusId, onStatus = () => {}, onClose }: Props) {
  const [sort, setSort] = useState<CommentSort>('TOP');
  const thread = useThread(statusId, sort, onStatus);
  const acts = useCommentActions(thread);
  const viewer = useViewer();
  const unseen = useUnseen(thread.arrived, thread.list);
  const title = useRef<HTMLHeadingElement>(null);
  usePageEscape(onClose);
  useEffect(() => void (onClose && title.current?.focus()), []);
  const { status, tree } = thread;
  const outer = use(RelationChange);
  const onRelation = () => {
    thread.reconnect();
    outer();
  };
  const reveal = (id: string) => thread.change(() => tree.expandTo(id));
  const comment = async (message: string, key: string) => {
    const before = new Set(tree.roots);
    const errors = await acts.add({ statusId }, message, key);
    const mine = tree.roots.find((id) => !before.has(id));
    if (mine && errors.length === 0) articleOf(thread.list.current, mine)?.scrollIntoView({ block: 'nearest' });
    return errors;
  };
  return (
    <RelationChange value={onRelation}>
      <section className="thread" id="thread" aria-labelledby="thread-title">
        <div className="head">
          <h2 id="thread-title" ref={title} tabIndex={-1}>
            Comments <span className="total">{status && NUMBER.format(status.commentCount)}</span>
          </h2>
          <SortChoice sorts={SORTS} sort={sort} onChange={setSort} />
          {onClose && (
            <button type="button" className="close" onClick={onClose}>
              Close
            </button>
          )}
        </div>
        {status && (
          <div className="subject">
            <StatusCard status={status} within="thread" onChange={thread.changeStatus} />
          </div>
        )}
        {viewer ? (
          <WritingBox key={viewer.id} className="top-box" label="Comment" field="Comment" placeholder="What do you say?" max={MAX_LENGTH} send={comment} />
        ) : (
          <p className="hint">Log in to comment, to like, and to vote.</p>
        )}
        <ConnectionLine connection={thread.connection} gap={thread.gap} onReconnect={thread.reconnect} />
        {unseen.count > 0 && (
          <button type="button" className="newer" onClick={() => unseen.go(reveal)}>
            {unseen.count} new
          </button>
        )}
        <Comments thread={thread} acts={acts} />
        {status && tree.size === 0 && <p className="nothing">No comments yet. {viewer ? 'Write the first one above.' : 'Log in to write the first one.'}</p>}
        {thread.next && <MoreButton label="More comments" read={thread.readNextPage} />}
        <p className="error" role="alert">
          {thread.moreError}
        </p>
        <p className="visually-hidden" aria-live="polite">
          {thread.arrived.length > 0 && 'New comments'}
        </p>
      </section>
    </RelationChange>
  );
}
