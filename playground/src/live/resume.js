// A subscription that resumes after the last event when its connection ends. Copy this file.
//
// Every event has a cursor. The cursor of the last event is sent as `after` when the subscription is sent again: the server then sends each missed
// event, once and in order. So no event needs to be deduplicated or read again.
//
// The server sends a StreamGap when events are lost. A list that can be read again has `read`, which reads it and returns its sync cursor; it is called
// at the start and after a gap. Other lists have `begin`, which returns the cursor to start from, so that a connection can end before the first event.
import { createClient } from 'graphql-ws';
import { decideReconnect } from './reconnect.js';
import { Waiting } from './waiting.js';

// The server pings every 25 s: a connection without messages for longer is dead, even if no close has arrived.
const SILENCE_MS = 40_000;
// After a connection of this length the backoff starts again.
const GOOD_MS = 10_000;

// The document has one field, of a type with `__typename` and `cursor`, and a variable `$after`. A subscription that the server completes is sent again:
// if there is nothing to follow any more, the server refuses it.
//
// onEvent: each event but a gap. onGap: the reason of a gap, before the events after it. onState: { phase, ... }, where phase is `connecting`, `live`,
// `waiting` (`seconds`), or final: `login`, `refused` (`code`, `message`).
export function resume({ query, variables, token = null, read = null, begin = read, onEvent, onGap, onState }) {
  const waiting = new Waiting();
  let cursor = null;
  // The time at which this connection became live.
  let liveAt = null;
  let stopped = false;
  let hangUp = () => {};
  // A getter, read whenever the subscription is sent: after a close with 1000 graphql-ws sends it again by itself, and must not send the first cursor.
  const fromHere = {
    ...variables,
    get after() {
      return cursor;
    },
  };

  async function run() {
    for (let failures = 0; !stopped; ) {
      const before = cursor;
      liveAt = null;
      const end = await connection().catch((reason) => reason);
      if (stopped) return;
      if (end === REREAD) continue;
      const decision = decideReconnect(end);
      if (decision.phase) return onState(decision);
      const good = cursor !== before || (liveAt !== null && performance.now() - liveAt > GOOD_MS);
      failures = good ? 0 : failures + 1;
      await waiting.after(failures, decision.seconds, (seconds) => onState({ phase: 'waiting', seconds }));
    }
  }

  // Runs one connection until it ends. Throws the close event or the errors.
  async function connection() {
    onState({ phase: 'connecting' });
    cursor ??= await begin();
    if (stopped) return;
    await listen();
  }

  function listen() {
    return new Promise((resolve, reject) => {
      const silence = new Silence(() => client.terminate());
      const client = createClient({
        url: new URL('/graphql', location.href).href.replace(/^http/, 'ws'),
        connectionParams: token ? { authorization: `Bearer ${token}` } : {},
        // `run` decides about reconnects.
        retryAttempts: 0,
        on: { message: () => silence.broken(), connected: live },
      });
      const leave = client.subscribe({ query, variables: fromHere }, { next, error: fail, complete });
      hangUp = () => {
        leave();
        complete();
      };

      function live() {
        liveAt = performance.now();
        onState({ phase: 'live' });
      }
      function next({ data, errors }) {
        if (errors) return fail(errors);
        const [event] = Object.values(data);
        // Set before the callbacks, which may end the connection.
        cursor = event.cursor;
        if (event.__typename !== 'StreamGap') return onEvent(event);
        onGap(event.reason);
        if (!read) return;
        // The read may include the next events, so the subscription continues from the cursor of its response.
        cursor = null;
        silence.end();
        leave();
        reject(REREAD);
      }
      function fail(reason) {
        silence.end();
        leave();
        reject(reason);
      }
      function complete() {
        silence.end();
        resolve();
      }
    });
  }

  const online = () => waiting.skip();
  addEventListener('online', online);
  void run();
  return {
    // Reconnects at once.
    reconnect: () => waiting.skip(),
    stop() {
      stopped = true;
      removeEventListener('online', online);
      hangUp();
      waiting.skip();
    },
  };
}

// The reason for a connection that this client ended, to read the list again.
const REREAD = Symbol('read anew');

// Calls `tooLong` when no message has arrived for too long.
class Silence {
  #timer;
  #tooLong;

  constructor(tooLong) {
    this.#tooLong = tooLong;
    this.broken();
  }

  broken() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#tooLong, SILENCE_MS);
  }

  end() {
    clearTimeout(this.#timer);
  }
}
