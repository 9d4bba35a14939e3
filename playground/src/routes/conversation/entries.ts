// The entries of a conversation, in lists, and changes of these lists.
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import type { ConversationEntryFragment } from './fragments/ConversationEntry.generated.ts';

export interface ConversationEntry extends ConversationEntryFragment {
  // Identifies it in a list: a reply of the viewer is added before its entry has been read.
  key: string;
}

export const entryOf = (entry: ConversationEntryFragment): ConversationEntry => ({ ...entry, key: entry.status?.id ?? entry.id });

// The entry of a reply that was just posted. `node` takes the id of its status for the same replies.
export function newEntry(status: StatusCardFragment, depth: number): ConversationEntry {
  return { key: status.id, id: status.id, depth, replyCount: 0, status };
}

export function updateEntries(entries: ConversationEntry[], { id, ...change }: StatusChange): ConversationEntry[] {
  return entries.map((entry) => {
    if (entry.status?.id !== id) return entry;
    return { ...entry, replyCount: change.replyCount ?? entry.replyCount, status: { ...entry.status, ...change } };
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

// The entry of a deleted status stays while there are entries below it.
export function removeStatus(entries: ConversationEntry[], id: string): ConversationEntry[] {
  return entries.flatMap((entry) => (entry.status?.id !== id ? entry : entry.replyCount > 0 ? { ...entry, status: null } : []));
}

// Adds the viewer's own reply where the viewer sees it: above the others if the newest are first, else at the end of what has been read.
export function addEntry(entries: ConversationEntry[], entry: ConversationEntry, isFirst: boolean): ConversationEntry[] {
  const others = entries.filter(({ key }) => key !== entry.key);
  return isFirst ? [entry, ...others] : [...others, entry];
}
