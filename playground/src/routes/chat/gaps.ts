// The notice of a gap in the events of the chats, which have been read again.
const REASONS: Record<string, string> = {
  EXPIRED: 'it was too long ago',
  LOST: 'the server’s storage has lost them',
  TOO_SLOW: 'more came than this page could take',
};
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function chatGapText(reason: string): string {
  return `${TIME.format()} Events of the chats are missing (${REASONS[reason] ?? reason}): they were read again.`;
}
