// The direct replies to a status or below a place, a page at a time, and the events about them.
import { read } from '../../api/read.ts';
import type { ReplySort } from '../../api/schema.generated.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { useConversationEvent } from './events.ts';
import { ConversationRepliesDocument } from './operations/Replies.generated.ts';
import { addPlace, countsAfter, placeOf, placeOfNew, removeStatus, updatePlaces, type Place } from './places.ts';

const FIRST = 20;

export interface Parent {
  // Of the place or the status.
  id: string;
  // Null if the place has no status any more.
  statusId: string | null;
  depth: number;
}

// With a parent of null nothing is read. `onRemoved` is called for each reply that is deleted.
export function useReplies(parent: Parent | null, sort: ReplySort, onRemoved: () => void) {
  const pages = usePages<Place>(parent && `${parent.id} ${sort}`, async (client, after) => {
    const { node } = await read(client, ConversationRepliesDocument, { id: parent?.id ?? '', first: FIRST, after, sort });
    return pageOf(node && 'replies' in node ? node.replies : null, (edge) => placeOf(edge.node));
  });
  const place = (reply: StatusCardFragment) => placeOfNew(reply, (parent?.depth ?? 0) + 1);
  // The viewer's own reply is shown at once. Later pages may have the place of another one.
  const add = (reply: StatusCardFragment) => pages.change((places) => addPlace(places, place(reply), sort === 'NEW'));
  const addFromEvent = (reply: StatusCardFragment) =>
    pages.change((places, hasMore) => {
      const isKnown = places.some(({ key }) => key === reply.id);
      return isKnown || (hasMore && sort !== 'NEW') ? places : addPlace(places, place(reply), sort === 'NEW');
    });
  const update = (change: StatusChange) => pages.change((places) => updatePlaces(places, change));
  const remove = (statusId: string) => {
    if (pages.items?.some(({ status }) => status?.id === statusId)) onRemoved();
    pages.change((places) => removeStatus(places, statusId));
  };
  useConversationEvent((event) => {
    if (!parent) return;
    if (event.__typename === 'StatusPosted') {
      countsAfter(event.status).forEach(update);
      if (parent.statusId && event.status.replyTo?.status?.id === parent.statusId) addFromEvent(event.status);
    } else if (event.__typename === 'StatusEdited') update(event.status);
    else if (event.__typename === 'StatusDeleted') remove(event.statusId);
    else if (event.__typename === 'StreamGap') void pages.readAgain();
  });
  return { ...pages, add, update, remove };
}

export type RepliesState = ReturnType<typeof useReplies>;
