// The notice of a gap in a thread, which has been read again.
const REASONS: Record<string, string> = {
  EXPIRED: 'it was too long ago',
  LOST: 'the server’s storage has lost them',
  TOO_SLOW: 'more came than this page could take',
};
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function threadGapText(reason: string): string {
  return `${TIME.format()} Events of this thread are missing (${REASONS[reason] ?? reason}): the thread was read again.`;
}
