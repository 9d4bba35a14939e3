// The places of a conversation, as lists of them hold and change them.
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import type { ConversationPlaceFragment } from './fragments/ConversationPlace.generated.ts';

export interface Place extends ConversationPlaceFragment {
  // Identifies it in a list: a reply of the viewer is added before its place has been read.
  key: string;
}

export const placeOf = (place: ConversationPlaceFragment): Place => ({ ...place, key: place.status?.id ?? place.id });

// The place of a reply that was just posted. `node` takes the id of its status for the same replies.
export const placeOfNew = (status: StatusCardFragment, depth: number): Place => ({ key: status.id, id: status.id, depth, replyCount: 0, status });

export function updatePlaces(places: Place[], { id, ...change }: StatusChange): Place[] {
  return places.map((place) => {
    if (place.status?.id !== id) return place;
    return { ...place, replyCount: change.replyCount ?? place.replyCount, status: { ...place.status, ...change } };
  });
}

// The counts of the statuses that a new status replies to and quotes, as the response of the server has them.
export function countsAfter({ replyTo, quotedStatus }: StatusCardFragment): StatusChange[] {
  const above = replyTo?.status;
  const counts: (StatusChange | null | undefined)[] = [
    above && { id: above.id, replyCount: above.replyCount },
    quotedStatus && { id: quotedStatus.id, quoteCount: quotedStatus.quoteCount },
  ];
  return counts.filter((change) => change != null);
}

// The place of a deleted status stays while there are places below it.
export function removeStatus(places: Place[], id: string): Place[] {
  return places.flatMap((place) => (place.status?.id !== id ? place : place.replyCount > 0 ? { ...place, status: null } : []));
}

// Adds the viewer's own reply where the viewer sees it: above the others if the newest are first, else at the end of what has been read.
export function addPlace(places: Place[], place: Place, isFirst: boolean): Place[] {
  const others = places.filter(({ key }) => key !== place.key);
  return isFirst ? [place, ...others] : [...others, place];
}
