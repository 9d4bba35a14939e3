// How Graphcache stores responses of Waxwing.
import { cacheExchange } from '@urql/exchange-graphcache';
import type { Cache } from '@urql/exchange-graphcache';
import { relayPagination } from '@urql/exchange-graphcache/extras';
import { keys, schema } from './gql/graphcache.js';

// Merges the pages of a list: pages with `before` come before pages with `after`.
const pages = relayPagination({ mergeMode: 'outwards' });

export const createCache = () =>
  cacheExchange({
    schema,
    keys,
    resolvers: {
      Timeline: { entries: pages },
      CommentThread: { comments: pages, tree: pages },
      Comment: { replies: pages },
      Status: { likers: pages },
      User: { followers: pages, following: pages },
      UserList: { members: pages },
    },
    updates: {
      Subscription: {
        homeTimelineEvents({ homeTimelineEvents: event }, _arguments, cache) {
          const { __typename, statusId } = event as { __typename: string; statusId?: string };
          if (__typename === 'StatusDeleted') removeFromHome(cache, `Status:${statusId}`);
        },
      },
    },
  });

// Removes a status from every page of the home.
function removeFromHome(cache: Cache, status: string) {
  const home = cache.resolve('Query', 'homeTimeline') as string | null;
  for (const { fieldName, fieldKey } of home ? cache.inspectFields(home) : []) {
    if (fieldName !== 'entries') continue;
    const page = cache.resolve(home, fieldKey) as string;
    const edges = cache.resolve(page, 'edges') as string[];
    const kept = edges.filter((edge) => cache.resolve(cache.resolve(edge, 'node') as string, 'status') !== status);
    cache.link(page, 'edges', kept);
  }
}
