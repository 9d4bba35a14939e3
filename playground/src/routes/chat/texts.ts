// How chats and their rows are named.
import type { ChatRole } from '../../api/schema.generated.ts';
import type { ChatPersonFragment } from './fragments/ChatPerson.generated.ts';
import type { ChatCard, ChatRow } from './lists.ts';

export const titleOf = ({ kind, name, viewerPeer }: ChatCard) => (kind === 'GROUP' ? (name ?? '') : (viewerPeer?.name ?? 'Unavailable account'));

export const ROLES: Record<ChatRole, string> = { OWNER: 'Owner', ADMIN: 'Admin', MEMBER: 'Member' };
const NEW_ROLES: Record<ChatRole, string> = { OWNER: 'the owner', ADMIN: 'an admin', MEMBER: 'a member' };

type Person = Pick<ChatPersonFragment, 'id' | 'name'>;

export const nameOf = (person: Person | null) => person?.name ?? 'Unavailable account';

// A row that is no text, as a sentence.
export function systemText(row: ChatRow, viewerId: string | undefined): string {
  const { kind, sender, subject, role, text } = row;
  const isViewer = (person: Person | null) => person !== null && person.id === viewerId;
  const [who, whom] = [isViewer(sender) ? 'You' : nameOf(sender), isViewer(subject) ? 'You' : nameOf(subject)];
  const by = isViewer(sender) ? 'you' : nameOf(sender);
  switch (kind) {
    case 'MEMBER_JOINED':
      return sender?.id === subject?.id ? `${whom} joined` : `${whom} joined, added by ${by}`;
    case 'MEMBER_LEFT':
      return `${whom} left`;
    case 'MEMBER_REMOVED':
      return `${who} removed ${isViewer(subject) ? 'you' : whom}`;
    case 'ROLE_CHANGED':
      return `${whom} ${whom === 'You' ? 'are' : 'is'} now ${NEW_ROLES[role ?? 'MEMBER']}`;
    case 'RENAMED':
      return `${who} renamed the group to “${text}”`;
    default:
      return text;
  }
}

export const DELETED = 'This message was deleted.';
export const HIDDEN = 'Message by an account that you blocked or that blocked you.';

// The newest row of a chat, as the list shows it.
export function previewOf({ kind, newestMessage }: ChatCard, viewerId: string | undefined): string {
  if (!newestMessage) return 'No messages yet';
  if (newestMessage.kind !== 'TEXT') return systemText(newestMessage, viewerId);
  const text = contentOf(newestMessage);
  if (newestMessage.sender && newestMessage.sender.id === viewerId) return `You: ${text}`;
  return kind === 'GROUP' && newestMessage.sender ? `${newestMessage.sender.name}: ${text}` : text;
}

// When messages are deleted. Null if they are kept.
export function retentionText(daysAfterSeen: number | null): string {
  if (daysAfterSeen === null) return 'Messages are kept.';
  if (daysAfterSeen === 0) return 'Messages are deleted as soon as all members have seen them.';
  return `Messages are deleted ${daysAfterSeen === 1 ? 'a day' : `${daysAfterSeen} days`} after all members have seen them.`;
}

export const contentOf = ({ isDeleted, isHidden, text }: Pick<ChatRow, 'isDeleted' | 'isHidden' | 'text'>) => (isDeleted ? DELETED : isHidden ? HIDDEN : text);

export function typingText(people: readonly Person[]): string {
  const [first, second] = people;
  if (!first) return '';
  if (!second) return `${first.name} is typing …`;
  return people.length === 2 ? `${first.name} and ${second.name} are typing …` : `${people.length} people are typing …`;
}
