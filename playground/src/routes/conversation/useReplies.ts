// The direct replies to a status or below an entry, a page at a time, and the events about them.
import { read } from '../../api/read.ts';
import type { ReplySort } from '../../api/schema.generated.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { useConversationEvent } from './events.ts';
import { ConversationRepliesDocument } from './operations/Replies.generated.ts';
import { addEntry, countsAfter, entryOf, newEntry, removeStatus, updateEntries, type ConversationEntry } from './entries.ts';

const FIRST = 20;

export interface Parent {
  // Of the entry or the status.
  id: string;
  // Null if the entry has no status any more.
  statusId: string | null;
  depth: number;
}

// With a parent of null nothing is read. `onRemoved` is called for each reply that is deleted.
export function useReplies(parent: Parent | null, sort: ReplySort, onRemoved: () => void) {
  const pages = usePages<ConversationEntry>(parent && `${parent.id} ${sort}`, async (client, after) => {
    const { node } = await read(client, ConversationRepliesDocument, { id: parent?.id ?? '', first: FIRST, after, sort });
    return pageOf(node && 'replies' in node ? node.replies : null, (edge) => entryOf(edge.node));
  });
  const entry = (reply: StatusCardFragment) => newEntry(reply, (parent?.depth ?? 0) + 1);
  // The viewer's own reply is shown at once. Later pages may have the entry of another one.
  const add = (reply: StatusCardFragment) => pages.change((entries) => addEntry(entries, entry(reply), sort === 'NEW'));
  const addFromEvent = (reply: StatusCardFragment) =>
    pages.change((entries, hasMore) => {
      const isKnown = entries.some(({ key }) => key === reply.id);
      return isKnown || (hasMore && sort !== 'NEW') ? entries : addEntry(entries, entry(reply), sort === 'NEW');
    });
  const update = (change: StatusChange) => pages.change((entries) => updateEntries(entries, change));
  const remove = (statusId: string) => {
    if (pages.items?.some(({ status }) => status?.id === statusId)) onRemoved();
    pages.change((entries) => removeStatus(entries, statusId));
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
