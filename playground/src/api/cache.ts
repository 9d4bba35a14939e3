// How Graphcache stores what the API answers: every type with an `id` is one entity, whichever document asked for it. So the result of `likeStatus`
// changes the status wherever it is shown.
import { cacheExchange, type Cache } from '@urql/exchange-graphcache';
import matcher from './possible-types.generated.ts';

// Lists that a mutation adds to: they are read again, wherever they are shown.
const LISTS = { createCampaign: 'viewerCampaigns', registerWebsite: 'viewerWebsites' };

// Types without an id of their own are stored within the entity that holds them. An id of a `TimelineEntry` finds nothing.
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
    updates: { Mutation: Object.fromEntries(Object.entries(LISTS).map(([mutation, list]) => [mutation, forget(list)])) },
  });
}

const forget = (list: string) => (_result: unknown, _arguments: unknown, cache: Cache) => {
  for (const { fieldName, arguments: given } of cache.inspectFields('Query')) if (fieldName === list) cache.invalidate('Query', fieldName, given);
};
