// Reads a home page by page, likes a status, and keeps the home up to date by its events.
import { CombinedGraphQLErrors } from '@apollo/client';
import { ReplaySubject, filter, firstValueFrom } from 'rxjs';
import { coalesce } from 'waxwing-recipe-resume';
import { createClient } from './client.js';
import { DELETE_STATUS, HOME, HOME_EVENTS, LIKE_STATUS, LOG_IN, NODES, POST_STATUS, SYNC_CURSOR } from './documents.js';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

// Pages are small here, to show several.
const PAGE = 2;

const onEnded = () => console.log('session: ended, ask for a log-in');
const { client: anonymous } = createClient(url, { token: null, onEnded });
const { data } = await anonymous.mutate({ mutation: LOG_IN, variables: { input: { login, password } } });
const { client, socket } = createClient(url, { token: data?.logIn?.session?.token ?? null, onEnded });

// The cursor of the subscription is read before the first page: what is posted in between comes as an event.
const { data: sync } = await client.query({ query: SYNC_CURSOR, fetchPolicy: 'network-only' });
const home = client.watchQuery({ query: HOME, variables: { first: PAGE } });
const changes = new ReplaySubject(1);
home.subscribe(changes);
await shows(() => entries().length === PAGE);
console.log('first page:', entries().length, 'entries');

// Older entries are added at the end.
await home.fetchMore({ variables: { first: PAGE, after: page()?.pageInfo.endCursor } });
console.log('with the second page:', entries().length, 'entries');

// Two queries have read the cursor and the entries of the home: the cache has both.
console.log('cached by both queries:', client.readQuery({ query: SYNC_CURSOR }) !== null);

// The result of a mutation changes the status in every list that has it.
const liked = entries()[0]!.node.status;
await client.mutate({ mutation: LIKE_STATUS, variables: { statusId: liked.id } });
console.log('liked in the home:', entries()[0]!.node.status.viewerHasLiked);

// More than one page is posted before the subscription begins.
for (const at of [1, 2, 3, 4, 5, 6, 7]) await client.mutate({ mutation: POST_STATUS, variables: { input: { message: `Status ${at} of Apollo.` } } });

// An event has the status, but not its entry of the home. So newer entries are read, page by page, and added in front.
const { readNewer, readAgain } = coalesce({
  async newer() {
    const { data } = await home.fetchMore({ variables: { first: null, last: PAGE, before: page()?.pageInfo.startCursor } });
    return data?.homeTimeline?.entries.pageInfo.hasPreviousPage ?? false;
  },
  again: () => home.refetch({ first: PAGE }),
  onError: (reason) => console.error('The home was not read:', reason),
});
const following = client.subscribe({ query: HOME_EVENTS, variables: { after: sync?.homeTimeline?.syncCursor } }).subscribe(({ data }) => {
  const event = data?.homeTimelineEvents;
  if (event?.__typename === 'StatusPosted') readNewer();
  if (event?.__typename === 'StatusDeleted') client.cache.evict({ id: `Status:${event.statusId}` });
  // Events are missing: the first page replaces the list.
  if (event?.__typename === 'StreamGap') readAgain();
});
await shows(() => entries()[0]?.node.status.message === 'Status 7 of Apollo.');
console.log('with all newer pages:', entries().length, 'entries');

const { data: post } = await client.mutate({ mutation: POST_STATUS, variables: { input: { message: 'Apollo was here.' } } });
const posted = post!.postStatus!.status!;
await shows(() => entries()[0]?.node.status.id === posted.id);
console.log('after the event:', entries().length, 'entries, the newest:', entries()[0]!.node.status.message);

await client.mutate({ mutation: DELETE_STATUS, variables: { statusId: posted.id } });
await shows(() => entries()[0]?.node.status.id !== posted.id);
console.log('after its deletion:', entries().length, 'entries');

// The cache resolves a fragment on an interface.
await client.query({ query: NODES, variables: { ids: [liked.id] } });
console.log('from the cache by an interface:', client.readQuery({ query: NODES, variables: { ids: [liked.id] } })?.nodes[0]?.id === liked.id);

// A request with a token that is unknown, or whose session has ended, is refused as a whole.
const { client: refused } = createClient(url, { token: 'ended', onEnded });
await refused.query({ query: SYNC_CURSOR }).catch((error) => console.log('refused:', codeOf(error)));
following.unsubscribe();
client.stop();
await socket.dispose();

function codeOf(error: unknown) {
  return CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions?.['code'];
}

function page() {
  return client.readQuery({ query: HOME })?.homeTimeline?.entries;
}

function entries() {
  return page()?.edges ?? [];
}

function shows(fits: () => boolean) {
  return firstValueFrom(changes.pipe(filter(fits)));
}
