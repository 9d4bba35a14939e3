// The viewer's home: a button reads older pages, and events ask for newer entries.
import { useMemo } from 'react';
import { graphql, useLazyLoadQuery, usePaginationFragment, useRelayEnvironment, useSubscription } from 'react-relay';
import type { GraphQLSubscriptionConfig } from 'relay-runtime';
import { coalesce } from 'waxwing-recipe-resume';
import type { HomeEventsSubscription } from './__generated__/HomeEventsSubscription.graphql';
import type { HomePageQuery } from './__generated__/HomePageQuery.graphql';
import type { HomeQuery } from './__generated__/HomeQuery.graphql';
import type { Home_query$key } from './__generated__/Home_query.graphql';
import { StatusLine } from './StatusLine';
import { readFirstPage, readNewerPage } from './readHome';
import { removeFromHome } from './removeFromHome';

const QUERY = graphql`
  query HomeQuery {
    homeTimeline {
      syncCursor
    }
    ...Home_query @arguments(first: 3)
  }
`;

// On Query, which Relay can refetch: a Timeline has no id. `first` has no default here: a page with `last` has no `first`, and Relay would send the
// default.
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
  const { data, loadNext, hasNext } = usePaginationFragment<HomePageQuery, Home_query$key>(PAGES, query);
  const environment = useRelayEnvironment();
  const after = query.homeTimeline?.syncCursor;
  const { readNewer, readAgain } = useMemo(() => {
    const onError = (reason: unknown) => console.error('The home was not read:', reason);
    return coalesce({ newer: () => readNewerPage(environment), again: () => readFirstPage(environment), onError });
  }, [environment]);
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
        // The event has the status, but not its entry of the home.
        if (event?.__typename === 'StatusPosted') readNewer();
        // Events are missing: the first page replaces the list.
        if (event?.__typename === 'StreamGap') readAgain();
      },
    }),
    [after, readNewer, readAgain],
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
