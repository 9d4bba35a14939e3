// The rows of a timeline. Events are applied in order and in batches, and the scroll position is kept.
import { useCallback, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';
import { MAX_ROWS, updateStatus, statusRow, applyEvent, withoutLikes, type Belongs, type Reposter, type TimelineRow } from './rows.ts';

// Events of this period are applied together, with one layout.
const BATCH_MS = 50;
// Whether the browser supports scroll anchoring.
const SUPPORTS_SCROLL_ANCHORING = CSS.supports('overflow-anchor', 'auto');

// An entry of a timeline, as a read returns it.
export interface Entry {
  status: StatusCardFragment;
  repostedBy?: Reposter | null;
}

export function useRows(belongs?: Belongs) {
  const list = useRef<HTMLOListElement>(null);
  const [rows, setRows] = useState<TimelineRow[]>([]);
  const [posted, setPosted] = useState(0);
  const [unseen, setUnseen] = useState(0);
  const state = useRef({ rows, belongs, queue: [] as TimelineEventFragment[], timer: 0 });
  Object.assign(state.current, { rows, belongs });

  const clearQueue = useCallback(() => {
    clearTimeout(state.current.timer);
    Object.assign(state.current, { queue: [], timer: 0 });
  }, []);
  // A read may remove the row that has the focus: the list takes it.
  const hadFocus = useRef(false);
  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) list.current?.focus({ preventScroll: true });
    hadFocus.current = false;
  }, [rows]);
  const replace = useCallback((entries: readonly Entry[]) => {
    clearQueue();
    hadFocus.current = list.current?.contains(document.activeElement) ?? false;
    setUnseen(0);
    setRows(entries.map(({ status, repostedBy }) => statusRow(status, repostedBy)));
  }, [clearQueue]);
  // Adds the entries of an older page. The first of them takes the focus: the button that asked for them may disappear.
  const append = useCallback((entries: readonly Entry[]) => {
    const added = entries.map(({ status, repostedBy }) => statusRow(status, repostedBy));
    flushSync(() => setRows((rows) => [...rows, ...added.filter(({ key }) => rows.every((row) => row.key !== key))]));
    const [first] = added;
    const row = first && [...(list.current?.children ?? [])].find((item) => item instanceof HTMLElement && item.dataset.key === first.key);
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
  }, []);
  const enqueue = useCallback((event: TimelineEventFragment) => {
    state.current.queue.push(event);
    state.current.timer ||= window.setTimeout(apply, BATCH_MS);
  }, []);

  function apply(): void {
    const events = state.current.queue.splice(0);
    state.current.timer = 0;
    const count = events.filter(({ __typename }) => __typename === 'StatusPosted').length;
    const scrolledDown = isScrolledDown();
    keepScrollPosition(list.current, scrolledDown, () => setRows((rows) => events.reduce((rows, event) => applyEvent(rows, event, state.current.belongs), rows).slice(0, MAX_ROWS)));
    if (scrolledDown) setUnseen((unseen) => unseen + count);
    setPosted((posted) => posted + count);
  }

  const isScrolledDown = () => (list.current?.getBoundingClientRect().top ?? 0) < 0;
  useEffect(() => {
    const onScroll = () => void (isScrolledDown() || setUnseen(0));
    addEventListener('scroll', onScroll, { passive: true });
    return () => removeEventListener('scroll', onScroll);
  }, []);
  useEffect(() => clearQueue, [clearQueue]);

  return {
    list,
    rows,
    // The number of statuses that events added, and how many of them are above the viewport.
    posted,
    unseen,
    replace,
    append,
    enqueue,
    clearLikes: useCallback(() => setRows(withoutLikes), []),
    updateStatus: useCallback((change: StatusChange) => setRows((rows) => updateStatus(rows, change)), []),
    // The ids of the rows and of queued events.
    ids: () => [...state.current.rows.flatMap((row) => (row.kind === 'status' ? row.status.id : [])), ...state.current.queue.flatMap(idsOf)],
    scrollToTop() {
      list.current?.scrollIntoView({ block: 'start' });
      list.current?.focus({ preventScroll: true });
      setUnseen(0);
    },
  };
}

const idsOf = (event: TimelineEventFragment) => (event.__typename === 'StatusPosted' ? [event.status.id] : []);

// Applies a change, keeps the scroll position, and moves the focus from a removed row to the next one.
function keepScrollPosition(list: HTMLElement | null, isScrolledDown: boolean, change: () => void): void {
  const { scrollY } = window;
  const height = list?.offsetHeight ?? 0;
  const row = document.activeElement?.closest('li');
  const next = row && list?.contains(row) ? row.nextElementSibling : null;
  flushSync(change);
  if (isScrolledDown && !SUPPORTS_SCROLL_ANCHORING) scrollTo(0, scrollY + (list?.offsetHeight ?? 0) - height);
  if (!row || row.isConnected || document.activeElement !== document.body) return;
  const target = next instanceof HTMLElement && next.isConnected ? next : list;
  target?.focus();
}
