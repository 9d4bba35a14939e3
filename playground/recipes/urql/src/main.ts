// Reads a home page by page, likes a status, and keeps the home up to date by its events.
import { coalesce } from 'waxwing-recipe-resume';
import { createClient } from './client.js';
import type { Session } from './client.js';
import type { HomeQuery } from './gql/graphql.js';
import { DELETE_STATUS, HOME, HOME_EVENTS, LIKE_STATUS, LOG_IN, NODES, POST_STATUS, SYNC_CURSOR } from './documents.js';

type Page = NonNullable<HomeQuery['homeTimeline']>['entries'] | undefined;

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

const session: Session = {
  token: null,
  end(refused) {
    if (refused !== session.token) return;
    session.token = null;
    console.log('session: ended, ask for a log-in');
  },
};
const { client, socket } = createClient(url, session);
const { data } = await client.mutation(LOG_IN, { input: { login, password } });
session.token = data?.logIn?.session?.token ?? null;

// The place to follow the home from is read before its first page: what happens in between comes as an event.
const { data: sync } = await client.query(SYNC_CURSOR, {}, { requestPolicy: 'network-only' });

// The first page's query shows all pages that the cache has. Each further page is a query of its own.
let page: Page;
let changed = () => {};
const showing = client.query(HOME, { first: 2 }).subscribe(({ data }) => {
  page = data?.homeTimeline?.entries;
  changed();
});
await shows(() => entries().length === 2);
console.log('first page:', entries().length, 'entries');
await client.query(HOME, { first: 2, after: page?.pageInfo.endCursor });
await shows(() => entries().length > 2);
console.log('with the second page:', entries().length, 'entries');

// Whatever an answer says of a status changes it wherever it is shown.
const liked = entries()[0]!.node.status;
await client.mutation(LIKE_STATUS, { statusId: liked.id });
await shows(() => entries()[0]!.node.status.viewerHasLiked);
console.log('liked in the home:', entries()[0]!.node.status.viewerHasLiked);

// An event has no entry of the home. It tells that there is something newer, which is read and shown in front.
const readNewer = coalesce(() => {
  const newer = { last: 20, before: page?.pageInfo.startCursor };
  return client.query(HOME, newer, { requestPolicy: 'network-only' }).toPromise();
});
const following = client.subscription(HOME_EVENTS, { after: sync?.homeTimeline?.syncCursor }).subscribe(({ data }) => {
  const event = data?.homeTimelineEvents;
  if (event?.__typename === 'StatusPosted') readNewer();
  // Events are missing: the first page is read again.
  if (event?.__typename === 'StreamGap') void client.query(HOME, { first: 2 }, { requestPolicy: 'network-only' }).toPromise();
});

const { data: post } = await client.mutation(POST_STATUS, { input: { message: 'urql was here.' } });
const posted = post!.postStatus!.status!;
await shows(() => entries()[0]?.node.status.id === posted.id);
console.log('after the event:', entries().length, 'entries, the newest:', entries()[0]!.node.status.message);

await client.mutation(DELETE_STATUS, { statusId: posted.id });
await shows(() => entries().every(({ node }) => node.status.id !== posted.id));
console.log('after its deletion:', entries().length, 'entries');

// A fragment on an interface is found in the cache.
await client.query(NODES, { ids: [liked.id] });
console.log('from the cache by an interface:', client.readQuery(NODES, { ids: [liked.id] })?.data?.nodes[0]?.id === liked.id);

// A request whose token names no session is refused as a whole.
session.token = 'ended';
const { error } = await client.query(SYNC_CURSOR, {}, { requestPolicy: 'network-only' });
console.log('refused:', error?.graphQLErrors[0]?.extensions['code']);
following.unsubscribe();
showing.unsubscribe();
await socket.dispose();

function entries() {
  return page?.edges ?? [];
}

async function shows(fits: () => boolean) {
  while (!fits()) await new Promise<void>((resolve) => (changed = resolve));
}
