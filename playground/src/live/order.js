// The five orders of comments beside each other, as the server has them: where one that has just come belongs among those that are shown.
const KEYS = {
  TOP: ({ score }) => score,
  REPLIES: ({ replyCount }) => replyCount,
  CONTROVERSIAL: controversy,
  NEW: () => 0,
};

// Whether `one` is read before `other`. Of two that tie the later one is, and `one` is the later where both came in the same moment.
export function isBefore(sort, one, other) {
  const later = new Date(one.postedAt) - new Date(other.postedAt);
  if (sort === 'OLD') return later < 0;
  const more = KEYS[sort](one) - KEYS[sort](other);
  return more === 0 ? later >= 0 : more > 0;
}

// Many votes, evenly shared.
function controversy({ upvoteCount: up, downvoteCount: down }) {
  return up && down ? (up + down) ** (Math.min(up, down) / Math.max(up, down)) : 0;
}
