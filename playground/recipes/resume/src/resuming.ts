// Makes the subscriptions of a graphql-ws client resume. Whenever the client sends one again, its variable `after` is the cursor of the last
// event: the server sends each event that was missed, once and in order, and then what happens next.
import type { Client } from 'graphql-ws';

export function resuming(client: Client): Client {
  return {
    ...client,
    subscribe(payload, sink) {
      if (!payload.variables || !('after' in payload.variables)) return client.subscribe(payload, sink);
      let { after } = payload.variables;
      const variables = {
        ...payload.variables,
        // Read whenever the client sends the operation.
        get after() {
          return after;
        },
      };
      return client.subscribe<any, any>({ ...payload, variables }, {
        next(result) {
          // Before the event is handled: that may take a while, in which the connection can end.
          after = cursorOf(result) ?? after;
          sink.next(result);
        },
        error: (reason) => sink.error(reason),
        complete: () => sink.complete(),
      });
    },
  };
}

// A subscription has one field, and every event has a cursor.
const cursorOf = ({ data }: { data?: Record<string, { cursor?: string }> | null }) => Object.values(data ?? {})[0]?.cursor;
