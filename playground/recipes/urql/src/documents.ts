// The operations of this client.
import { graphql } from './gql/index.js';

export const LOG_IN = graphql(`
  mutation LogIn($input: LogInInput!) {
    logIn(input: $input) { session { token user { id login } } userErrors { code message } }
  }
`);

export const HOME = graphql(`
  query Home($first: Int, $after: String, $last: Int, $before: String) {
    homeTimeline {
      entries(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { id status { ...Status } } }
        pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
      }
    }
  }
`);

// The cursor to subscribe from. It is not part of the pages' query: each page has a newer one.
export const SYNC_CURSOR = graphql(`
  query SyncCursor { homeTimeline { syncCursor } }
`);

export const HOME_EVENTS = graphql(`
  subscription HomeEvents($after: String) {
    homeTimelineEvents(after: $after) {
      __typename
      cursor
      ... on StatusPosted { status { ...Status } }
      ... on StatusDeleted { statusId }
      ... on StreamGap { reason }
    }
  }
`);

export const POST_STATUS = graphql(`
  mutation PostStatus($input: PostStatusInput!) {
    postStatus(input: $input) { status { ...Status } userErrors { code message path } }
  }
`);

export const LIKE_STATUS = graphql(`
  mutation LikeStatus($statusId: ID!) {
    likeStatus(input: { statusId: $statusId }) { status { id likeCount viewerHasLiked } userErrors { code message } }
  }
`);

export const DELETE_STATUS = graphql(`
  mutation DeleteStatus($statusId: ID!) {
    deleteStatus(input: { statusId: $statusId }) { deletedStatusId userErrors { code message } }
  }
`);

// A fragment on an interface: the cache needs its possible types.
export const NODES = graphql(`
  query Nodes($ids: [ID!]!) { nodes(ids: $ids) { ...Identity } }
  fragment Identity on Node { id }
`);

graphql(`
  fragment Status on Status { id message likeCount viewerHasLiked author { id login } }
`);
