// How Apollo Client stores responses of Waxwing: objects with an `id` by type and id, all others within their parent.
import { InMemoryCache } from '@apollo/client';
import type { FieldPolicy, Reference } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import introspection from './gql/possible-types.js';

export const createCache = () =>
  new InMemoryCache({
    // Without it, a fragment on `Node`, `StatusEvent` or `CommentEvent` matches nothing.
    possibleTypes: introspection.possibleTypes,
    typePolicies: {
      // Types without an id: their pages are merged within the parent.
      Timeline: { merge: true, fields: { entries: withoutDeleted(relayStylePagination()) } },
      CommentThread: {
        merge: true,
        fields: { comments: relayStylePagination(['sort']), tree: relayStylePagination(['sort', 'maxDepth']) },
      },
      Comment: { fields: { replies: relayStylePagination(['sort']) } },
      Status: { fields: { likers: relayStylePagination() } },
      User: { fields: { followers: relayStylePagination(), following: relayStylePagination() } },
      UserList: { fields: { members: relayStylePagination() } },
    },
  });

// Hides entries whose status was evicted from the cache.
function withoutDeleted(pages: ReturnType<typeof relayStylePagination>): FieldPolicy {
  return {
    ...pages,
    read(existing, options) {
      const page = (pages.read as (existing: unknown, options: unknown) => Page | undefined)(existing, options);
      const status = (edge: Page['edges'][number]) => options.readField<Reference>('status', options.readField<Reference>('node', edge));
      return page && { ...page, edges: page.edges.filter((edge) => options.canRead(status(edge))) };
    },
  };
}

type Page = { edges: { node: Reference }[] };
