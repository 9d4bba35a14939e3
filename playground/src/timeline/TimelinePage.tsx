// A timeline with the open thread beside it, for the home and the public stream.
import { useEffect, useRef, type ReactNode } from 'react';
import type { Connection } from '../live/resume.js';
import { RelationChange } from '../people/usePersonAction.ts';
import { Thread } from '../thread/Thread.tsx';
import { useThreadLink } from '../thread/threadLink.ts';
import { ConnectionLine } from '../ui/ConnectionLine.tsx';
import { PostBox } from './PostBox.tsx';
import { Stream } from './Stream.tsx';
import type { useRows } from './useRows.ts';
import './timeline.css';

interface Props {
  title: string;
  // The heading of the page. Without it, only screen readers have the title.
  head?: ReactNode;
  aside?: ReactNode;
  empty: ReactNode;
  timeline: ReturnType<typeof useRows> & {
    connection: Connection;
    reconnect: () => void;
    gap: string | null;
    readOlder?: (() => Promise<void>) | null;
    olderError?: string;
  };
  // Called after a change between the viewer and another account.
  onRelation?: () => void;
  // Whether there is a subscription whose state is shown.
  hasSubscription?: boolean;
}

export function TimelinePage({ title, head, aside, empty, timeline, onRelation = () => {}, hasSubscription = true }: Props) {
  const [thread, openThread] = useThreadLink();
  useScrollRestoration(thread, timeline.list);
  return (
    <RelationChange value={onRelation}>
      <div className={`columns timelines${aside ? '' : ' no-aside'}${thread ? ' with-thread' : ''}`}>
        {aside}
        <main>
          {head ?? <h1 className="visually-hidden">{title}</h1>}
          <PostBox />
          {hasSubscription && <ConnectionLine connection={timeline.connection} gap={timeline.gap} onReconnect={timeline.reconnect} />}
          <Stream
            timeline={timeline}
            thread={thread}
            onThread={openThread}
            empty={empty}
            readOlder={timeline.readOlder ?? null}
            olderError={timeline.olderError ?? ''}
          />
        </main>
        {thread && <Thread key={thread} statusId={thread} onStatus={timeline.updateStatus} onClose={() => openThread(null)} />}
      </div>
    </RelationChange>
  );
}

// Restores the scroll position of the timeline when the thread is closed.
function useScrollRestoration(thread: string | null, list: React.RefObject<HTMLOListElement | null>): void {
  const saved = useRef({ top: scrollY, thread });
  useEffect(() => {
    const savePosition = () => void (saved.current.thread || (saved.current.top = scrollY));
    addEventListener('scroll', savePosition, { passive: true });
    return () => removeEventListener('scroll', savePosition);
  }, []);
  useEffect(() => {
    const before = saved.current.thread;
    saved.current.thread = thread;
    if (thread || !before) return;
    scrollTo(0, saved.current.top);
    const button = list.current?.querySelector<HTMLElement>(`[data-id='${CSS.escape(before)}'] .comments`);
    (button ?? list.current)?.focus({ preventScroll: true });
  }, [thread]);
}
