// How Graphcache stores answers: an object with an `id` is one entity for all documents. So the result of `likeStatus` changes the status in every
// list.
import { cacheExchange, type Cache } from '@urql/exchange-graphcache';
import matcher from './possible-types.generated.ts';

// Mutations after which a request of another account may be answered or withdrawn.
const RELATIONS = [
  'acceptFollowRequest', 'rejectFollowRequest', 'followUser', 'acceptFriendRequest', 'rejectFriendRequest', 'requestFriend', 'blockUser', 'unblockUser',
  'updateProfile',
];
// Lists that a mutation changes. They are invalidated, and read again where they are shown.
const LISTS: Record<string, string[]> = {
  createCampaign: ['viewerCampaigns'],
  registerWebsite: ['viewerWebsites'],
  createUserList: ['viewerLists'],
  ...Object.fromEntries(RELATIONS.map((mutation) => [mutation, ['viewerFollowRequests', 'viewerFriendRequests']])),
};

// Types that are stored within their parent: they have no id, or `node` does not take it (`TimelineEntry`).
const EMBEDDED = [
  'AdExplanation', 'AdImpression', 'CampaignDay', 'CampaignReport', 'CommentThread', 'FrequencyCap', 'Location', 'NewSession', 'ShownAd', 'Timeline',
  'TimelineEntry',
  // Events, which have a cursor and no id.
  'CommentAdded', 'CommentDeleted', 'CommentEdited', 'CommentVoted', 'StatusDeleted', 'StatusPosted', 'StreamGap',
];

export function cache() {
  return cacheExchange({
    possibleTypes: matcher.possibleTypes,
    keys: Object.fromEntries(EMBEDDED.map((type) => [type, () => null])),
    updates: { Mutation: Object.fromEntries(Object.entries(LISTS).map(([mutation, lists]) => [mutation, forget(lists)])) },
  });
}

const forget = (lists: string[]) => (_result: unknown, _arguments: unknown, cache: Cache) => {
  for (const { fieldName, arguments: given } of cache.inspectFields('Query')) if (lists.includes(fieldName)) cache.invalidate('Query', fieldName, given);
};
