// Reads a home page by page, likes a status, and keeps the home up to date by its events.
import { CombinedGraphQLErrors } from '@apollo/client';
import { ReplaySubject, filter, firstValueFrom } from 'rxjs';
import { coalesce } from 'waxwing-recipe-resume';
import type { Session } from './client.js';
import { createClient } from './client.js';
import { DELETE_STATUS, HOME, HOME_EVENTS, LIKE_STATUS, LOG_IN, NODES, POST_STATUS, SYNC_CURSOR } from './documents.js';

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
const { data } = await client.mutate({ mutation: LOG_IN, variables: { input: { login, password } } });
session.token = data?.logIn?.session?.token ?? null;

// The place to follow the home from is read before its first page: what happens in between comes as an event.
const { data: sync } = await client.query({ query: SYNC_CURSOR, fetchPolicy: 'network-only' });
const home = client.watchQuery({ query: HOME, variables: { first: 2 } });
const changes = new ReplaySubject(1);
home.subscribe(changes);
await shows(() => entries().length === 2);
console.log('first page:', entries().length, 'entries');

// Older entries are added at the end.
await home.fetchMore({ variables: { first: 2, after: page()?.pageInfo.endCursor } });
console.log('with the second page:', entries().length, 'entries');

// One query has read the home's cursor, another one its entries: the cache keeps both.
console.log('cached by both queries:', client.readQuery({ query: SYNC_CURSOR }) !== null);

// Whatever an answer says of a status changes it wherever it is shown.
const liked = entries()[0]!.node.status;
await client.mutate({ mutation: LIKE_STATUS, variables: { statusId: liked.id } });
console.log('liked in the home:', entries()[0]!.node.status.viewerHasLiked);

// An event has no entry of the home. It tells that there is something newer, which is read and added in front.
const readNewer = coalesce(() => home.fetchMore({ variables: { first: null, last: 20, before: page()?.pageInfo.startCursor } }));
const following = client.subscribe({ query: HOME_EVENTS, variables: { after: sync?.homeTimeline?.syncCursor } }).subscribe(({ data }) => {
  const event = data?.homeTimelineEvents;
  if (event?.__typename === 'StatusPosted') readNewer();
  if (event?.__typename === 'StatusDeleted') client.cache.evict({ id: `Status:${event.statusId}` });
  // Events are missing: the first page replaces what is shown.
  if (event?.__typename === 'StreamGap') void home.refetch({ first: 2 });
});

const { data: post } = await client.mutate({ mutation: POST_STATUS, variables: { input: { message: 'Apollo was here.' } } });
const posted = post!.postStatus!.status!;
await shows(() => entries()[0]?.node.status.id === posted.id);
console.log('after the event:', entries().length, 'entries, the newest:', entries()[0]!.node.status.message);

await client.mutate({ mutation: DELETE_STATUS, variables: { statusId: posted.id } });
await shows(() => entries().length === 4);
console.log('after its deletion:', entries().length, 'entries');

// A fragment on an interface is found in the cache.
await client.query({ query: NODES, variables: { ids: [liked.id] } });
console.log('from the cache by an interface:', client.readQuery({ query: NODES, variables: { ids: [liked.id] } })?.nodes[0]?.id === liked.id);

// A request whose token names no session is refused as a whole.
session.token = 'ended';
await client.query({ query: SYNC_CURSOR, fetchPolicy: 'network-only' }).catch((error) => console.log('refused:', codeOf(error)));
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
