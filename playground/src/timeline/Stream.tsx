// The list of a timeline: its rows, a button that scrolls to new rows, and a hint if there are none.
import type { ReactNode } from 'react';
import { StatusCard } from '../statuses/StatusCard.tsx';
import { MoreButton } from '../ui/MoreButton.tsx';
import { useAnnouncement } from '../ui/useAnnouncement.ts';
import { gapText } from './gaps.ts';
import type { TimelineRow } from './rows.ts';
import type { useRows } from './useRows.ts';

type Rows = Pick<ReturnType<typeof useRows>, 'list' | 'rows' | 'posted' | 'unseen' | 'updateStatus' | 'scrollToTop'>;

interface Props {
  timeline: Rows;
  // The status whose thread is open.
  thread: string | null;
  onThread: (statusId: string | null) => void;
  empty: ReactNode;
  // Reads older entries. Null if there are none.
  readOlder: (() => Promise<void>) | null;
  olderError: string;
}

export function Stream({ timeline, thread, onThread, empty, readOlder, olderError }: Props) {
  const { list, rows, posted, unseen, updateStatus, scrollToTop } = timeline;
  const announcement = useAnnouncement(posted, (count) => (count === 1 ? 'One new post' : `${count} new posts`));
  const item = (row: TimelineRow) => {
    if (row.kind === 'gap') return gapText(row.reason);
    const isOpen = row.status.id === thread;
    const button = { isOpen, toggle: () => onThread(isOpen ? null : row.status.id) };
    return <StatusCard status={row.status} repostedBy={row.repostedBy} onChange={updateStatus} thread={button} />;
  };
  return (
    <div className="stream">
      {unseen > 0 && (
        <button type="button" className="newer" onClick={scrollToTop}>
          ↑ {unseen} new
        </button>
      )}
      <ol ref={list} className="timeline" aria-label="Timeline" tabIndex={-1}>
        {rows.map((row) => (
          <li key={row.key} data-key={row.key} data-id={row.kind === 'status' ? row.status.id : undefined} tabIndex={-1} className={row.kind === 'gap' ? 'gap' : row.isNew ? 'new' : undefined}>
            {item(row)}
          </li>
        ))}
      </ol>
      {readOlder && <MoreButton label="Older posts" read={readOlder} />}
      <p className="error" role="alert">
        {olderError}
      </p>
      {rows.length === 0 && <div className="empty">{empty}</div>}
      <p className="visually-hidden" aria-live="polite">
        {announcement}
      </p>
    </div>
  );
}
