// Who may reply to a status, as texts.
import type { ReplyPolicy } from '../api/schema.generated.ts';

export const REPLY_POLICIES: Record<ReplyPolicy, string> = {
  EVERYONE: 'Replies: everyone',
  FOLLOWED: 'Replies: followed and mentioned',
  MENTIONED: 'Replies: mentioned',
  NOBODY: 'Replies: nobody',
};

// Why the viewer cannot reply. The first status of a conversation has a policy as well, for all replies.
export const REFUSALS: Record<ReplyPolicy, string> = {
  EVERYONE: 'The author of this conversation limits who may reply.',
  FOLLOWED: 'Only accounts that the author follows or mentions may reply.',
  MENTIONED: 'Only accounts that this status mentions may reply.',
  NOBODY: 'The author allows no replies.',
};
