// The rows of the open chat, oldest first. Older and newer pages are read as one scrolls; the row that is being read keeps its position.
import { Fragment, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useViewer } from '../../session/useSession.ts';
import { MoreButton } from '../../ui/MoreButton.tsx';
import { useReturn } from './attention.ts';
import type { ChatCard, ChatRow } from './lists.ts';
import { MessageRow } from './MessageRow.tsx';
import { Place } from './place.ts';
import { UnsentRow } from './UnsentRow.tsx';
import type { ChatRowsState } from './useChatRows.ts';
import { useMarkSeen } from './useMarkSeen.ts';
import type { Member } from './useMembers.ts';
import { unconfirmed, useTexts } from './useOutbox.ts';
import './rows.css';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

interface Props {
  chat: ChatCard;
  rowsState: ChatRowsState;
  members: readonly Member[];
  // Null if the viewer cannot write.
  onReply: ((row: ChatRow) => void) | null;
}

export function RowList({ chat, rowsState, members, onReply }: Props) {
  const { rows, line, older, newer, isTrimmed } = rowsState;
  const viewer = useViewer();
  const box = useRef<HTMLDivElement>(null);
  const markSeen = useMarkSeen(chat.id);
  const texts = unconfirmed(useTexts().texts.filter(({ chatId }) => chatId === chat.id), rows, viewer?.id);
  const { isAtEnd, check } = usePlace(box, rowsState, markSeen);
  useReturn(check);
  const isEmpty = rowsState.phase === 'read' && rows.length === 0 && texts.length === 0;
  return (
    <div className="rows-frame">
      <div ref={box} className="rows scrolled" role="region" aria-label="Messages" tabIndex={0} onKeyDown={moveFocus}>
        {older !== null && <MoreButton label="Earlier messages" read={rowsState.readOlder} />}
        {isEmpty && <p className="empty">{isTrimmed ? 'All messages so far were deleted.' : 'No messages yet. Write the first one below.'}</p>}
        <ol className="row-list" aria-label="Messages">
          {isTrimmed && older === null && rows.length > 0 && <li className="trimmed">Older messages were deleted.</li>}
          {rows.map((row, at) => (
            <Fragment key={row.id}>
              {dayOf(row) !== dayOf(rows[at - 1]) && <li className="day">{DAY.format(new Date(row.sentAt))}</li>}
              {row.sequence === line && (
                <li className="unread-line" data-line>
                  New messages
                </li>
              )}
              <MessageRow row={row} before={rows[at - 1] ?? null} chat={chat} members={members} jumpTo={rowsState.jumpTo} onReply={onReply} />
            </Fragment>
          ))}
          {newer === null && texts.map((text) => <UnsentRow key={text.key} text={text} />)}
        </ol>
        {newer !== null && <MoreButton label="Later messages" read={rowsState.readNewer} />}
      </div>
      {!isAtEnd && rows.length > 0 && (
        <button type="button" className="to-end" onClick={() => void rowsState.readEnd()}>
          <span aria-hidden="true">↓</span> Newest
        </button>
      )}
    </div>
  );
}

const dayOf = (row: ChatRow | undefined) => row && new Date(row.sentAt).toDateString();

// How far from an end the next page is read.
const NEAR_PX = 300;
// With more rows, a chat that is read at its end drops the oldest.
const MOST_ROWS = 500;

// Keeps the scroll position, scrolls to the scroll target of the chat, reads pages near the ends, and reports the last visible row.
function usePlace(box: React.RefObject<HTMLDivElement | null>, rowsState: ChatRowsState, onVisible: (sequence: number) => void) {
  const [isAtEnd, setIsAtEnd] = useState(true);
  const place = useRef<Place>(null as never);
  place.current ??= new Place();
  const reached = useRef<ChatRowsState['scrollTarget']>(null);
  const isReading = useRef(false);
  const latest = useRef({ rowsState, onVisible });
  latest.current = { rowsState, onVisible };

  const check = () => {
    const { current } = box;
    if (!current || current.offsetParent === null || latest.current.rowsState.phase !== 'read') return;
    place.current.save(current);
    setIsAtEnd(place.current.isAtEnd && latest.current.rowsState.newer === null);
    const sequence = place.current.lastVisible(current);
    if (sequence !== null) latest.current.onVisible(sequence);
    void readNear(current);
  };
  async function readNear({ scrollTop, scrollHeight, clientHeight }: HTMLElement): Promise<void> {
    const { rows, older, newer, readOlder, readNewer, shorten, error } = latest.current.rowsState;
    // After an error the buttons read the page.
    if (isReading.current || error) return;
    const isTooLong = rows.length > MOST_ROWS && place.current.isAtEnd && newer === null;
    const readPage = isTooLong ? shorten : scrollTop < NEAR_PX && older !== null ? readOlder : scrollHeight - scrollTop - clientHeight < NEAR_PX && newer !== null ? readNewer : null;
    if (!readPage) return;
    isReading.current = true;
    await readPage().finally(() => (isReading.current = false));
  }
  useLayoutEffect(() => {
    const { current } = box;
    if (!current) return;
    const { scrollTarget } = rowsState;
    if (scrollTarget !== null && scrollTarget !== reached.current) place.current.goTo(current, scrollTarget.to);
    else place.current.restore(current);
    reached.current = scrollTarget;
    check();
  });
  useEffect(() => {
    const { current } = box;
    if (!current) return;
    current.addEventListener('scroll', check, { passive: true });
    const observer = new ResizeObserver(() => {
      place.current.restore(current);
      check();
    });
    observer.observe(current);
    return () => {
      current.removeEventListener('scroll', check);
      observer.disconnect();
    };
  }, []);
  return { isAtEnd, check };
}

// The arrow keys move between the rows.
function moveFocus(event: React.KeyboardEvent<HTMLElement>): void {
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const row = document.activeElement?.closest<HTMLElement>('.row');
  if (!by || !row || event.target instanceof HTMLTextAreaElement) return;
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.row')];
  const next = rows[rows.indexOf(row) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
}
