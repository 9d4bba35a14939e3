// How Graphcache stores responses: an object with an `id` is one entity for all documents. So the result of `likeStatus` changes the status in every
// list.
import { cacheExchange, type Cache } from '@urql/exchange-graphcache';
import matcher from './possible-types.generated.ts';

// Lists that a mutation adds to or removes from. They are invalidated, and read again where they are shown.
const LISTS = {
  createCampaign: 'viewerCampaigns', registerWebsite: 'viewerWebsites', createUserList: 'viewerLists', followTag: 'viewerFollowedTags', unfollowTag: 'viewerFollowedTags',
  changePassword: 'viewerSessions', endSessions: 'viewerSessions',
};

// Types that are stored within their parent: they have no id, or `node` does not take it (`TimelineEntry`).
const EMBEDDED = [
  'AdExplanation', 'AdImpression', 'CampaignDay', 'CampaignReport', 'CommentThread', 'FrequencyCap', 'LinkEntity', 'Location', 'MentionEntity', 'NewSession',
  'ShownAd', 'TagEntity', 'TextEntities', 'TextRange', 'Timeline', 'TimelineEntry',
  // Events, which have a cursor and no id.
  'CommentAdded', 'CommentDeleted', 'CommentEdited', 'CommentVoted', 'RepostUndone', 'StatusDeleted', 'StatusEdited', 'StatusPosted', 'StatusReposted', 'StatusVersion', 'StreamGap',
];

export function cache() {
  return cacheExchange({
    possibleTypes: matcher.possibleTypes,
    keys: Object.fromEntries(EMBEDDED.map((type) => [type, () => null])),
    updates: { Mutation: Object.fromEntries(Object.entries(LISTS).map(([mutation, list]) => [mutation, forget(list)])) },
  });
}

const forget = (list: string) => (_result: unknown, _arguments: unknown, cache: Cache) => {
  for (const { fieldName, arguments: given } of cache.inspectFields('Query')) if (fieldName === list) cache.invalidate('Query', fieldName, given);
};
