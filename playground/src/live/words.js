// What the page says of a gap.
const GAPS = {
  EXPIRED: 'Posts may be missing here: it was too long ago for the server to have kept them.',
  LOST: 'Posts may be missing here: the server’s storage has lost them.',
  TOO_SLOW: 'Posts may be missing here: more came than this page could take.',
  UNCHECKED: 'Some of what is shown may have been deleted: the server could not be asked.',
};

export function gapText(reason) {
  return GAPS[reason] ?? `Posts may be missing here (${reason}).`;
}

// What a thread says of one: it has been read anew by then.
export function threadGapText(reason) {
  const why = { EXPIRED: 'it was too long ago', LOST: 'the server’s storage has lost them', TOO_SLOW: 'more came than this page could take' };
  return `What happened here meanwhile could not be told (${why[reason] ?? reason}): the thread was read anew.`;
}
