// The home of who is logged in: older pages by a button, newer entries by its events.
import { useEffect, useMemo, useRef } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment, useSubscription } from 'react-relay';
import type { GraphQLSubscriptionConfig } from 'relay-runtime';
import { coalesce } from 'waxwing-recipe-resume';
import type { HomeEventsSubscription } from './__generated__/HomeEventsSubscription.graphql';
import type { HomePageQuery } from './__generated__/HomePageQuery.graphql';
import type { HomeQuery } from './__generated__/HomeQuery.graphql';
import type { Home_query$key } from './__generated__/Home_query.graphql';
import { StatusLine } from './StatusLine';
import { removeFromHome } from './removeFromHome';

const QUERY = graphql`
  query HomeQuery {
    homeTimeline {
      syncCursor
    }
    ...Home_query @arguments(first: 3)
  }
`;

// Of Query, which Relay can ask for again: a Timeline has no id. `first` has no default here, as `loadPrevious` sends null for it beside `last`,
// and Relay would put the default in its place.
const PAGES = graphql`
  fragment Home_query on Query
  @argumentDefinitions(first: { type: "Int" }, after: { type: "String" }, last: { type: "Int" }, before: { type: "String" })
  @refetchable(queryName: "HomePageQuery") {
    homeTimeline {
      entries(first: $first, after: $after, last: $last, before: $before) @connection(key: "Home_entries") {
        edges {
          node {
            id
            status {
              id
              ...StatusLine_status
            }
          }
        }
      }
    }
  }
`;

const EVENTS = graphql`
  subscription HomeEventsSubscription($after: String) {
    homeTimelineEvents(after: $after) {
      __typename
      cursor
      ... on StatusPosted {
        status {
          id
        }
      }
      ... on StatusDeleted {
        statusId
      }
      ... on StreamGap {
        reason
      }
    }
  }
`;

export function Home() {
  const query = useLazyLoadQuery<HomeQuery>(QUERY, {});
  const { data, loadNext, loadPrevious, hasNext, refetch } = usePaginationFragment<HomePageQuery, Home_query$key>(PAGES, query);
  // Of each render, so that the subscription does not begin anew with each page.
  const act = useRef({ loadPrevious, refetch });
  useEffect(() => {
    act.current = { loadPrevious, refetch };
  });
  const after = query.homeTimeline?.syncCursor;
  const readNewer = useMemo(() => coalesce(() => new Promise((onComplete) => act.current.loadPrevious(20, { onComplete }))), []);
  const subscription = useMemo<GraphQLSubscriptionConfig<HomeEventsSubscription>>(
    () => ({
      subscription: EVENTS,
      variables: { after },
      updater: (store, data) => {
        const { statusId } = data?.homeTimelineEvents ?? {};
        if (statusId) removeFromHome(store, statusId);
      },
      onNext(data) {
        const event = data?.homeTimelineEvents;
        // An event has no entry of the home. It tells that there is something newer.
        if (event?.__typename === 'StatusPosted') readNewer();
        // Events are missing: the first page replaces what is shown.
        if (event?.__typename === 'StreamGap') act.current.refetch({ first: 3 }, { fetchPolicy: 'network-only' });
      },
    }),
    [after, readNewer],
  );
  useSubscription(subscription);
  return (
    <>
      <ul>
        {data.homeTimeline?.entries.edges.map(({ node }) => (
          <StatusLine key={node.id} status={node.status} />
        ))}
      </ul>
      <button disabled={!hasNext} onClick={() => loadNext(3)}>
        Older
      </button>
    </>
  );
}
