// The box to write in. A text is sent by the outbox, so that the box is free for the next one.
import { useEffect, useRef } from 'react';
import { usePageEscape } from '../../ui/onEscape.ts';
import { WritingBox } from '../../ui/WritingBox.tsx';
import { contentOf, nameOf } from './texts.ts';
import type { ChatCard, ChatRow } from './lists.ts';
import { lastOf } from './rows.ts';
import type { ChatRowsState } from './useChatRows.ts';
import { useTexts } from './useOutbox.ts';
import { useSendTyping } from './useTyping.ts';

export const MAX_LENGTH = 2_000;
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

interface Props {
  chat: ChatCard;
  rowsState: ChatRowsState;
  drafts: Map<string, string>;
  replyTo: ChatRow | null;
  onReplyTo: (row: ChatRow | null) => void;
}

export function Composer({ chat, rowsState, drafts, replyTo, onReplyTo }: Props) {
  const outbox = useTexts();
  const sendTyping = useSendTyping(chat.id);
  const box = useRef<HTMLDivElement>(null);
  const focus = () => box.current?.querySelector('textarea')?.focus({ preventScroll: true });
  // On a phone the keyboard would cover the rows.
  useEffect(() => void (matchMedia('(hover: hover)').matches && focus()), []);
  useEffect(() => void (replyTo && focus()), [replyTo]);
  usePageEscape(replyTo ? () => onReplyTo(null) : undefined);
  const write = (text: string) => {
    drafts.set(chat.id, text);
    sendTyping(text);
  };
  const send = async (text: string) => {
    const length = [...CHARACTERS.segment(text.trim().normalize('NFC'))].length;
    if (length === 0) return [{ message: 'Write a message first.', path: [] }];
    if (length > MAX_LENGTH) return [{ message: 'The message is too long: at most 2,000 characters.', path: [] }];
    outbox.send(chat.id, text, replyTo, Math.max(chat.newestSequence, lastOf(rowsState)));
    onReplyTo(null);
    rowsState.readEnd();
    return [];
  };
  return (
    <div ref={box} className="composer">
      {replyTo && (
        <div className="reply-to">
          <p className="quote">
            Reply to <strong dir="auto">{nameOf(replyTo.sender)}</strong>: <span dir="auto">{contentOf(replyTo)}</span>
          </p>
          <button type="button" className="quiet" onClick={() => onReplyTo(null)}>
            Cancel reply
          </button>
        </div>
      )}
      <WritingBox
        label="Send"
        field="Message"
        placeholder="Message"
        rows={1}
        max={MAX_LENGTH}
        text={drafts.get(chat.id)}
        send={send}
        sendsOnEnter
        onWrite={write}
      />
    </div>
  );
}
