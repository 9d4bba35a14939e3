// The statuses above a status in its conversation, root first.
import { useRef } from 'react';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { MoreButton } from '../../ui/MoreButton.tsx';
import { PlaceCard } from './PlaceCard.tsx';
import type { Place } from './places.ts';

interface Props {
  places: Place[];
  hasMore: boolean;
  readAbove: () => Promise<void>;
  onChange: (change: StatusChange) => void;
  onDelete: (id: string) => void;
  onReply: (reply: StatusCardFragment) => void;
}

export function Ancestors({ places, hasMore, readAbove, onChange, onDelete, onReply }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const read = async () => {
    await readAbove();
    // At the root the button disappears with the focus.
    list.current?.focus({ preventScroll: true });
  };
  if (places.length === 0) return null;
  return (
    <>
      {hasMore && <MoreButton label="Show earlier statuses" read={read} />}
      <ol ref={list} className="ancestors" aria-label="Earlier in this conversation" tabIndex={-1}>
        {places.map((place) => (
          <li key={place.key}>
            <PlaceCard status={place.status} onChange={onChange} onDelete={onDelete} onReply={onReply} />
          </li>
        ))}
      </ol>
    </>
  );
}
