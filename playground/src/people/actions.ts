// The actions of a viewer on another account, and the texts about the relation of the two.
import type { TypedDocumentNode } from 'urql';
import type { PersonRelationsFragment } from './fragments/PersonRelations.generated.ts';
import { PersonAcceptFollowDocument } from './operations/AcceptFollowRequest.generated.ts';
import { PersonAcceptFriendDocument } from './operations/AcceptFriendRequest.generated.ts';
import { PersonBlockDocument } from './operations/BlockUser.generated.ts';
import { PersonFollowDocument } from './operations/FollowUser.generated.ts';
import { PersonMuteDocument } from './operations/MuteUser.generated.ts';
import { PersonRejectFollowDocument } from './operations/RejectFollowRequest.generated.ts';
import { PersonRejectFriendDocument } from './operations/RejectFriendRequest.generated.ts';
import { PersonRemoveFollowerDocument } from './operations/RemoveFollower.generated.ts';
import { PersonRemoveFriendDocument } from './operations/RemoveFriend.generated.ts';
import { PersonRequestFriendDocument } from './operations/RequestFriend.generated.ts';
import { PersonUnblockDocument } from './operations/UnblockUser.generated.ts';
import { PersonUnfollowDocument } from './operations/UnfollowUser.generated.ts';
import { PersonUnmuteDocument } from './operations/UnmuteUser.generated.ts';

interface Result {
  result: { userErrors: readonly { message: string }[] } | null;
}

export interface PersonAction {
  label: string;
  document: TypedDocumentNode<Result, { userId: string }>;
  // Asked before an action that cannot be undone by its opposite.
  question?: string;
}

export const ACTIONS = {
  acceptFollow: { label: 'Accept follow request', document: PersonAcceptFollowDocument },
  rejectFollow: { label: 'Reject follow request', document: PersonRejectFollowDocument },
  follow: { label: 'Follow', document: PersonFollowDocument },
  requestFollow: { label: 'Ask to follow', document: PersonFollowDocument },
  withdrawFollow: { label: 'Withdraw follow request', document: PersonUnfollowDocument },
  unfollow: { label: 'Unfollow', document: PersonUnfollowDocument },
  removeFollower: { label: 'Remove follower', document: PersonRemoveFollowerDocument },
  acceptFriend: { label: 'Accept friend request', document: PersonAcceptFriendDocument },
  rejectFriend: { label: 'Reject friend request', document: PersonRejectFriendDocument },
  requestFriend: { label: 'Befriend', document: PersonRequestFriendDocument },
  withdrawFriend: { label: 'Withdraw friend request', document: PersonRemoveFriendDocument },
  unfriend: { label: 'Unfriend', document: PersonRemoveFriendDocument, question: 'End friendship and both follows?' },
  mute: { label: 'Mute for an hour', document: PersonMuteDocument },
  unmute: { label: 'Unmute', document: PersonUnmuteDocument },
  block: { label: 'Block', document: PersonBlockDocument, question: 'Block, and end follows and friendship?' },
  unblock: { label: 'Unblock', document: PersonUnblockDocument },
} satisfies Record<string, PersonAction>;
export type ActionName = keyof typeof ACTIONS;

// The actions that the viewer can take, in the order of their buttons.
export function actionsOf(person: PersonRelationsFragment): ActionName[] {
  const mute = person.viewerIsMuting ? 'unmute' : 'mute';
  if (person.viewerIsBlocking) return ['unblock', mute];
  return [...followActions(person), ...friendActions(person), mute, 'block'];
}

function followActions(person: PersonRelationsFragment): ActionName[] {
  const actions: ActionName[] = person.viewerHasFollowRequest ? ['acceptFollow', 'rejectFollow'] : [];
  const needsRequest = person.isPrivate && person.viewerFriendship !== 'FRIENDS';
  if (person.viewerFollowState === 'FOLLOWING') actions.push('unfollow');
  else if (person.viewerFollowState === 'REQUESTED') actions.push('withdrawFollow');
  else actions.push(needsRequest ? 'requestFollow' : 'follow');
  return person.isFollowingViewer ? [...actions, 'removeFollower'] : actions;
}

function friendActions({ viewerFriendship }: PersonRelationsFragment): ActionName[] {
  if (viewerFriendship === 'FRIENDS') return ['unfriend'];
  if (viewerFriendship === 'REQUEST_SENT') return ['withdrawFriend'];
  return viewerFriendship === 'REQUEST_RECEIVED' ? ['acceptFriend', 'rejectFriend'] : ['requestFriend'];
}

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY_MS = 86_400_000;

// The relation of the viewer and the account, a sentence for each part.
export function relationTexts(person: PersonRelationsFragment): string[] {
  const texts: (string | false)[] = [
    person.viewerIsBlocking && 'Blocked: neither of you sees what the other posts',
    person.viewerFollowState === 'FOLLOWING' && 'You follow this account',
    person.viewerFollowState === 'REQUESTED' && 'You asked to follow',
    person.isFollowingViewer && 'Follows you',
    person.viewerHasFollowRequest && 'Asks to follow you',
    person.viewerFriendship === 'FRIENDS' && 'Friends',
    person.viewerFriendship === 'REQUEST_SENT' && 'You sent a friend request',
    person.viewerFriendship === 'REQUEST_RECEIVED' && 'Sent you a friend request',
    person.viewerIsMuting && muteText(person.viewerMuteEndsAt),
  ];
  return texts.filter((text) => text !== false);
}

function muteText(endsAt: string | null): string {
  if (!endsAt) return 'Muted in your home and lists';
  const end = new Date(endsAt);
  return `Muted in your home and lists until ${(end.getTime() - Date.now() < DAY_MS ? TIME : DATE).format(end)}`;
}
