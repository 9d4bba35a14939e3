// Follows the viewer's home: reads the newest entries, then applies each event after them, also when the connection ends.
import type { GraphQLError } from 'graphql';
import type { Client } from 'graphql-ws';

const HOME = `{ homeTimeline { syncCursor entries(first: 20) { edges { node { id status { id message } } } } } }`;
const EVENTS = `
  subscription HomeEvents($after: String) {
    homeTimelineEvents(after: $after) {
      __typename
      cursor
      ... on StatusPosted { status { id message } }
      ... on StatusDeleted { statusId }
      ... on StreamGap { reason }
    }
  }`;

// Temporary errors. All others are final.
const TEMPORARY = ['UNREAD_RESPONSES', 'STORAGE_UNAVAILABLE', 'OVERLOADED', 'RATE_LIMITED', 'DEADLINE_EXCEEDED'];

export type Status = { id: string; message: string };
export type Event =
  | { __typename: 'StatusPosted'; cursor: string; status: Status }
  | { __typename: 'StatusDeleted'; cursor: string; statusId: string }
  | { __typename: 'StreamGap'; cursor: string; reason: string };
export type Screen = { show(statuses: Status[]): void; apply(event: Event): void };

// Rejects with a close that the client does not retry, or with a final error.
export async function followHome(client: Client, screen: Screen) {
  for (;;) {
    try {
      const home = await read(client);
      screen.show(home.entries.edges.map((edge) => edge.node.status));
      await untilGap(client, home.syncCursor, screen);
    } catch (reason) {
      const extensions = Array.isArray(reason) ? (reason as GraphQLError[])[0]?.extensions : undefined;
      if (!TEMPORARY.includes(String(extensions?.code))) throw reason;
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(extensions?.retryAfter ?? 1)));
    }
  }
}

// Ends at a StreamGap: the server no longer has every event after the cursor, so the home is read again.
function untilGap(client: Client, after: string, screen: Screen) {
  return new Promise<void>((resolve, reject) => {
    const unsubscribe = client.subscribe<{ homeTimelineEvents: Event }>(
      { query: EVENTS, variables: { after } },
      {
        next({ data, errors }) {
          if (!data) return reject(errors);
          screen.apply(data.homeTimelineEvents);
          if (data.homeTimelineEvents.__typename === 'StreamGap') unsubscribe();
        },
        error: reject,
        // After `unsubscribe` too.
        complete: resolve,
      },
    );
  });
}

type Home = { syncCursor: string; entries: { edges: { node: { status: Status } }[] } };

// Reads over the same socket, which waits until the server is back.
async function read(client: Client): Promise<Home> {
  for await (const { data, errors } of client.iterate<{ homeTimeline: Home | null }>({ query: HOME })) {
    if (!data?.homeTimeline) throw errors;
    return data.homeTimeline;
  }
  throw new Error('The server sent no home.');
}
