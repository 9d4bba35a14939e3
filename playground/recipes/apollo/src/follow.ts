// Follows a home over multipart responses. Stop the server and start it again: no event is missing, and none is repeated.
import { HOME, HOME_EVENTS, LOG_IN, SYNC_CURSOR } from './documents.js';
import { createMultipartClient } from './multipart.js';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

const onEnded = () => console.log('session: ended, ask for a log-in');
const onRetry = () => console.log('connection closed');
const anonymous = createMultipartClient(url, { token: null, onEnded }, onRetry);
const { data } = await anonymous.mutate({ mutation: LOG_IN, variables: { input: { login, password } } });
const client = createMultipartClient(url, { token: data?.logIn?.session?.token ?? null, onEnded }, onRetry);

const { data: sync } = await client.query({ query: SYNC_CURSOR, fetchPolicy: 'network-only' });
await readHome();
client.subscribe({ query: HOME_EVENTS, variables: { after: sync?.homeTimeline?.syncCursor } }).subscribe({
  next({ data, error }) {
    const event = data?.homeTimelineEvents;
    if (event?.__typename === 'StatusPosted') console.log(`posted: ${event.status.message}`);
    if (event?.__typename === 'StatusDeleted') console.log(`deleted: ${event.statusId}`);
    if (event?.__typename === 'StreamGap') {
      console.log(`gap: ${event.reason}`);
      void readHome();
    }
    if (error) console.log(`refused: ${error.message}`);
  },
});

async function readHome() {
  const { data } = await client.query({ query: HOME, variables: { first: 20 }, fetchPolicy: 'network-only' });
  const edges = data?.homeTimeline?.entries.edges ?? [];
  console.log(`home: ${edges.length} entries, the newest: ${edges[0]?.node.status.message}`);
}
