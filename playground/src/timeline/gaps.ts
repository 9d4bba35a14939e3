// The notice of a gap.
const REASONS: Record<string, string> = {
  EXPIRED: 'Posts may be missing here: it was too long ago for the server to have kept them.',
  LOST: 'Posts may be missing here: the server’s storage has lost them.',
  TOO_SLOW: 'Posts may be missing here: more came than this page could take.',
  UNCHECKED: 'Some of what is shown may have been deleted: the server could not be asked.',
};
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export const gapText = (reason: string) => REASONS[reason] ?? `Posts may be missing here (${reason}).`;

// Adds the time to a notice.
export const noticeOf = (text: string) => `${TIME.format()} ${text}`;
