// Reads a home page by page, likes a status, and keeps the home up to date by its events.
import { coalesce } from 'waxwing-recipe-resume';
import { createClient } from './client.js';
import type { HomeQuery, HomeQueryVariables } from './gql/graphql.js';
import { DELETE_STATUS, HOME, HOME_EVENTS, LIKE_STATUS, LOG_IN, NODES, POST_STATUS, SYNC_CURSOR } from './documents.js';

type Page = NonNullable<HomeQuery['homeTimeline']>['entries'] | undefined;

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

// Pages are small here, to show several.
const PAGE = 2;

const onEnded = () => console.log('session: ended, ask for a log-in');
const { client: anonymous } = createClient(url, { token: null, onEnded });
const { data } = await anonymous.mutation(LOG_IN, { input: { login, password } });
const { client, socket } = createClient(url, { token: data?.logIn?.session?.token ?? null, onEnded });

// The cursor of the subscription is read before the first page: what is posted in between comes as an event.
const { data: sync } = await client.query(SYNC_CURSOR, {}, { requestPolicy: 'network-only' });

// The query of the first page shows all pages of the cache. Each further page is its own query.
let page: Page;
let changed = () => {};
const showing = client.query(HOME, { first: PAGE }).subscribe(({ data }) => {
  page = data?.homeTimeline?.entries;
  changed();
});
await shows(() => entries().length === PAGE);
console.log('first page:', entries().length, 'entries');
await client.query(HOME, { first: PAGE, after: page?.pageInfo.endCursor });
await shows(() => entries().length > PAGE);
console.log('with the second page:', entries().length, 'entries');

// The result of a mutation changes the status in every list that has it.
const liked = entries()[0]!.node.status;
await client.mutation(LIKE_STATUS, { statusId: liked.id });
await shows(() => entries()[0]!.node.status.viewerHasLiked);
console.log('liked in the home:', entries()[0]!.node.status.viewerHasLiked);

// More than one page is posted before the subscription begins.
for (const at of [1, 2, 3, 4, 5, 6, 7]) await client.mutation(POST_STATUS, { input: { message: `Status ${at} of urql.` } });

// An event has the status, but not its entry of the home. So newer entries are read, page by page, and shown in front.
const { readNewer, readAgain } = coalesce({
  // Graphcache merges the pages: where the newest page is empty, the flag is that of the page before, and the cursor stays.
  newer: async () => {
    const before = page?.pageInfo.startCursor;
    const read = await readPage({ last: PAGE, before });
    return !!read?.hasPreviousPage && read.startCursor !== before;
  },
  again: () => readPage({ first: PAGE }),
  onError: (reason) => console.error('The home was not read:', reason),
});
const following = client.subscription(HOME_EVENTS, { after: sync?.homeTimeline?.syncCursor }).subscribe(({ data }) => {
  const event = data?.homeTimelineEvents;
  if (event?.__typename === 'StatusPosted') readNewer();
  // Events are missing: the first page is read again.
  if (event?.__typename === 'StreamGap') readAgain();
});
await shows(() => entries()[0]?.node.status.message === 'Status 7 of urql.');
console.log('with all newer pages:', entries().length, 'entries');

const { data: post } = await client.mutation(POST_STATUS, { input: { message: 'urql was here.' } });
const posted = post!.postStatus!.status!;
await shows(() => entries()[0]?.node.status.id === posted.id);
console.log('after the event:', entries().length, 'entries, the newest:', entries()[0]!.node.status.message);

await client.mutation(DELETE_STATUS, { statusId: posted.id });
await shows(() => entries().every(({ node }) => node.status.id !== posted.id));
console.log('after its deletion:', entries().length, 'entries');

// The cache resolves a fragment on an interface.
await client.query(NODES, { ids: [liked.id] });
console.log('from the cache by an interface:', client.readQuery(NODES, { ids: [liked.id] })?.data?.nodes[0]?.id === liked.id);

// A request with a token that is unknown, or whose session has ended, is refused as a whole.
const { client: refused } = createClient(url, { token: 'ended', onEnded });
const { error } = await refused.query(SYNC_CURSOR, {});
console.log('refused:', error?.graphQLErrors[0]?.extensions['code']);
following.unsubscribe();
showing.unsubscribe();
await socket.dispose();

async function readPage(variables: HomeQueryVariables) {
  const { data, error } = await client.query(HOME, variables, { requestPolicy: 'network-only' });
  if (error) throw error;
  return data?.homeTimeline?.entries.pageInfo;
}

function entries() {
  return page?.edges ?? [];
}

async function shows(fits: () => boolean) {
  while (!fits()) await new Promise<void>((resolve) => (changed = resolve));
}
