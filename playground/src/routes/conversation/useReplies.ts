// The direct replies to a status or below a place, a page at a time.
import { read } from '../../api/read.ts';
import type { ReplySort } from '../../api/schema.generated.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { ConversationRepliesDocument } from './operations/Replies.generated.ts';
import { addPlace, placeOf, placeOfNew, removeStatus, updatePlaces, type Place } from './places.ts';

const FIRST = 20;

// With an id of null nothing is read.
export function useReplies(id: string | null, sort: ReplySort) {
  const pages = usePages<Place>(id && `${id} ${sort}`, async (client, after) => {
    const { node } = await read(client, ConversationRepliesDocument, { id: id ?? '', first: FIRST, after, sort });
    return pageOf(node && 'replies' in node ? node.replies : null, (edge) => placeOf(edge.node));
  });
  return {
    ...pages,
    add: (reply: StatusCardFragment, depth: number) => pages.change((places) => addPlace(places, placeOfNew(reply, depth), sort === 'NEW')),
    update: (change: StatusChange) => pages.change((places) => updatePlaces(places, change)),
    remove: (statusId: string) => pages.change((places) => removeStatus(places, statusId)),
  };
}

export type RepliesState = ReturnType<typeof useReplies>;
