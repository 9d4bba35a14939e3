// The thread of one status: reads it, then applies the events after it, in order and in batches.
import { useEffect, useReducer, useRef, useState } from 'react';
import { useClient } from 'urql';
import { messageOf, type ErrorMessage } from '../api/errorMessages.ts';
import { useEvents } from '../api/useEvents.ts';
import type { CommentSort } from '../api/schema.generated.ts';
import { endRefusedSession } from '../session/store.ts';
import { useSession } from '../session/useSession.ts';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import { keepScrollPosition } from './keepScrollPosition.ts';
import type { ThreadCommentFragment } from './fragments/ThreadComment.generated.ts';
import { ThreadEventsDocument, type ThreadEventsSubscription } from './operations/ThreadEvents.generated.ts';
import { GONE, readPage, readPages } from './pages.ts';
import { threadGapText } from './gaps.ts';
import { CommentTree } from './tree.ts';
import { Recheck } from './recheck.ts';

const BATCH_MS = 50;

type ThreadEvent = ThreadEventsSubscription['commentEvents'];

export function useThread(statusId: string, sort: CommentSort, onStatus: (change: StatusChange) => void) {
  const client = useClient();
  const token = useSession().session?.token ?? null;
  const [, redraw] = useReducer((version: number) => version + 1, 0);
  const [status, setStatus] = useState<StatusCardFragment | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [gap, setGap] = useState<string | null>(null);
  const [isGone, setIsGone] = useState(false);
  const [moreError, setMoreError] = useState('');
  const [arrived, setArrived] = useState<readonly string[]>([]);
  const list = useRef<HTMLOListElement>(null);
  const tree = useRef<CommentTree>(null as never);
  tree.current ??= new CommentTree();
  // Counts the reads: the result of a read is ignored if another one has begun since.
  const reading = useRef(0);
  const batch = useRef({ events: [] as ThreadEvent[], timer: 0 });

  const change = (act: () => void) =>
    keepScrollPosition(list.current, () => {
      act();
      redraw();
    });
  const changeStatus = (change: StatusChange) => {
    setStatus((status) => status && { ...status, ...change });
    onStatus(change);
  };
  const recheck = useRef<Recheck>(null as never);
  recheck.current ??= new Recheck(statusId, tree.current);
  recheck.current.use(client, change, (commentCount) => changeStatus({ id: statusId, commentCount }));

  function forget(): void {
    clearTimeout(batch.current.timer);
    batch.current = { events: [], timer: 0 };
    recheck.current.clear();
  }

  async function read(): Promise<string> {
    const current = ++reading.current;
    forget();
    const page = await readPages(client, statusId, sort, tree.current.size);
    if (current !== reading.current) throw new Error('a later reading has begun');
    setStatus(page.status);
    setNext(page.next);
    onStatus(page.status);
    change(() => tree.current.reset(page.comments, sort, page.next !== null));
    return page.syncCursor;
  }

  async function readNextPage(): Promise<void> {
    const current = reading.current;
    const page = await readPage(client, statusId, sort, next).catch((error: ErrorMessage[]) => void setMoreError(messageOf(error)));
    if (!page || current !== reading.current) return;
    setMoreError('');
    setNext(page.next);
    change(() => tree.current.append(page.comments, page.next !== null));
  }

  // When the status is deleted, the subscription completes and the next one is refused.
  async function refused(): Promise<void> {
    const current = reading.current;
    const reason: unknown = await readPage(client, statusId, sort, null).catch((error: unknown) => error);
    if (reason !== GONE || current !== reading.current) return;
    reading.current++;
    forget();
    change(() => tree.current.clear());
    setStatus(null);
    setNext(null);
    setIsGone(true);
  }

  function apply(): void {
    const events = batch.current.events.splice(0);
    batch.current.timer = 0;
    const added: string[] = [];
    change(() => events.forEach((event) => applyEvent(event, added)));
    if (added.length > 0) setArrived(added);
    recheck.current.run();
  }

  function applyEvent(event: ThreadEvent, added: string[]): void {
    if (event.__typename === 'CommentDeleted') return recheck.current.add(event.commentId);
    if (event.__typename === 'StreamGap') return;
    const { status, ...comment } = event.comment;
    if (status) changeStatus({ id: status.id, commentCount: status.commentCount });
    if (event.__typename !== 'CommentAdded') tree.current.update(comment);
    else if (tree.current.add(comment)) added.push(comment.id);
  }

  const key = `${statusId} ${sort}`;
  useEffect(() => {
    setGap(null);
    setIsGone(false);
    return forget;
  }, [client, key]);
  const following = useEvents(key, {
    document: ThreadEventsDocument,
    variables: { statusId },
    // Not everyone can see the status, and a block hides comments.
    asViewer: true,
    read,
    onData({ commentEvents }) {
      batch.current.events.push(commentEvents);
      batch.current.timer ||= window.setTimeout(apply, BATCH_MS);
    },
    onGap: (reason) => setGap(threadGapText(reason)),
    onState({ phase }) {
      if (phase === 'live') recheck.current.run();
      // The socket may report the end of the session before a request does.
      if (phase === 'login' && token) endRefusedSession(token);
      if (phase === 'refused') void refused();
    },
  });

  return {
    ...following,
    connection: isGone ? { phase: 'gone' as const, message: GONE[0]?.message ?? '' } : following.connection,
    tree: tree.current,
    list,
    status,
    gap,
    next,
    moreError,
    // The comments that the last batch of events added.
    arrived,
    readNextPage,
    change,
    changeStatus,
    // Adds a comment of the viewer without waiting for its event.
    own: (comment: ThreadCommentFragment) =>
      change(() => {
        tree.current.add(comment);
        tree.current.expandTo(comment.id);
      }),
    removed(commentId: string) {
      recheck.current.add(commentId);
      recheck.current.run();
    },
  };
}

export type ThreadState = ReturnType<typeof useThread>;
