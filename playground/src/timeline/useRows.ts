// The rows of a timeline. Events are applied in order and in batches, and the scroll position is kept.
import { useCallback, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';
import { MAX_ROWS, patch, statusRow, take, withoutLikes, type Row } from './rows.ts';

// Events of this period are applied together, with one layout.
const BATCH_MS = 50;
// Whether the browser supports scroll anchoring.
const ANCHORS = CSS.supports('overflow-anchor', 'auto');

export function useRows() {
  const list = useRef<HTMLOListElement>(null);
  const [rows, setRows] = useState<Row[]>([]);
  const [posted, setPosted] = useState(0);
  const [unseen, setUnseen] = useState(0);
  const state = useRef({ rows, queue: [] as TimelineEventFragment[], timer: 0 });
  state.current.rows = rows;

  const drop = useCallback(() => {
    clearTimeout(state.current.timer);
    Object.assign(state.current, { queue: [], timer: 0 });
  }, []);
  const show = useCallback((statuses: readonly StatusCardFragment[]) => {
    drop();
    setUnseen(0);
    setRows(statuses.map((status) => statusRow(status)));
  }, [drop]);
  const push = useCallback((event: TimelineEventFragment) => {
    state.current.queue.push(event);
    state.current.timer ||= window.setTimeout(apply, BATCH_MS);
  }, []);

  function apply(): void {
    const events = state.current.queue.splice(0);
    state.current.timer = 0;
    const count = events.filter(({ __typename }) => __typename === 'StatusPosted').length;
    const away = isAway();
    inPlace(list.current, away, () => setRows((rows) => events.reduce(take, rows).slice(0, MAX_ROWS)));
    if (away) setUnseen((unseen) => unseen + count);
    setPosted((posted) => posted + count);
  }

  const isAway = () => (list.current?.getBoundingClientRect().top ?? 0) < 0;
  useEffect(() => {
    const look = () => void (isAway() || setUnseen(0));
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useEffect(() => drop, [drop]);

  return {
    list,
    rows,
    // The number of statuses that events added, and how many of them are above the viewport.
    posted,
    unseen,
    show,
    push,
    forgetLikes: useCallback(() => setRows(withoutLikes), []),
    patch: useCallback((change: StatusChange) => setRows((rows) => patch(rows, change)), []),
    // The ids of the rows and of queued events.
    ids: () => [...state.current.rows.filter(({ kind }) => kind === 'status').map(({ key }) => key), ...state.current.queue.flatMap(idsOf)],
    toTop() {
      list.current?.scrollIntoView({ block: 'start' });
      list.current?.focus({ preventScroll: true });
      setUnseen(0);
    },
  };
}

const idsOf = (event: TimelineEventFragment) => (event.__typename === 'StatusPosted' ? [event.status.id] : []);

// Applies a change, keeps the scroll position, and moves the focus from a removed row to the next one.
function inPlace(list: HTMLElement | null, isAway: boolean, change: () => void): void {
  const { scrollY } = window;
  const height = list?.offsetHeight ?? 0;
  const row = document.activeElement?.closest('li');
  const next = row && list?.contains(row) ? row.nextElementSibling : null;
  flushSync(change);
  if (isAway && !ANCHORS) scrollTo(0, scrollY + (list?.offsetHeight ?? 0) - height);
  if (!row || row.isConnected || document.activeElement !== document.body) return;
  const target = next instanceof HTMLElement && next.isConnected ? next : list;
  target?.focus();
}
