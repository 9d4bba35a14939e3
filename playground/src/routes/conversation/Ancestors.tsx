// The statuses above a status in its conversation, root first.
import { useRef } from 'react';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { MoreButton } from '../../ui/MoreButton.tsx';
import { EntryCard } from './EntryCard.tsx';
import type { ConversationEntry } from './entries.ts';

interface Props {
  entries: ConversationEntry[];
  hasMore: boolean;
  readAbove: () => Promise<void>;
  onChange: (change: StatusChange) => void;
  onDelete: (id: string) => void;
  onReply: (reply: StatusCardFragment) => void;
}

export function Ancestors({ entries, hasMore, readAbove, onChange, onDelete, onReply }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const read = async () => {
    await readAbove();
    // At the root the button disappears with the focus.
    list.current?.focus({ preventScroll: true });
  };
  if (entries.length === 0) return null;
  return (
    <>
      {hasMore && <MoreButton label="Show earlier statuses" read={read} />}
      <ol ref={list} className="ancestors" aria-label="Earlier in this conversation" tabIndex={-1}>
        {entries.map((entry) => (
          <li key={entry.key}>
            <EntryCard status={entry.status} onChange={onChange} onDelete={onDelete} onReply={onReply} />
          </li>
        ))}
      </ol>
    </>
  );
}
