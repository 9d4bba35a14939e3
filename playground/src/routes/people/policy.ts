// Explains who can see a status, as the server decides it. The page asks the server itself, and shows this beside the response.
import type { StatusAudience } from '../../api/schema.generated.ts';

// The relation of the author and a viewer who is logged in.
export interface Relation {
  // Either of the two blocks the other.
  isBlocked: boolean;
  // The viewer follows the author.
  isFollower: boolean;
  isFriend: boolean;
  // Whether the viewer is on the list of the audience. Null if the list was deleted.
  isMember: boolean | null;
}

export interface StatusFacts {
  audience: StatusAudience;
  // The account of the author.
  isPrivate: boolean;
}

export interface Explanation {
  sees: boolean;
  // The line of the policy that decides.
  reason: string;
}

export function explain({ audience, isPrivate }: StatusFacts, viewer: 'author' | 'logged out' | Relation): Explanation {
  if (viewer === 'author') return { sees: true, reason: 'author' };
  if (audience === 'PUBLIC' && !isPrivate) return isBlocked(viewer) ? BLOCKED : { sees: true, reason: 'public' };
  const rule = audience === 'PUBLIC' ? 'private account' : audience;
  if (viewer === 'logged out') return { sees: false, reason: `${rule}: logged out` };
  if (viewer.isBlocked) return BLOCKED;
  const { sees, reason } = audience === 'LIST' ? byList(viewer) : audience === 'FRIENDS' ? byFriendship(viewer) : byFollow(viewer);
  return { sees, reason: `${rule}: ${reason}` };
}

const BLOCKED: Explanation = { sees: false, reason: 'blocked' };

const isBlocked = (viewer: 'logged out' | Relation) => viewer !== 'logged out' && viewer.isBlocked;

function byFollow({ isFollower, isFriend }: Relation): Explanation {
  if (isFollower) return { sees: true, reason: 'is a follower' };
  return isFriend ? { sees: true, reason: 'is a friend' } : { sees: false, reason: 'not a follower' };
}

function byFriendship({ isFriend }: Relation): Explanation {
  return { sees: isFriend, reason: isFriend ? 'is a friend' : 'not a friend' };
}

function byList({ isMember }: Relation): Explanation {
  if (isMember === null) return { sees: false, reason: 'the list was deleted' };
  return { sees: isMember, reason: isMember ? 'member' : 'not a member' };
}
