// A subscription that goes on where it stopped, whatever ends its connection: this is the file to copy.
//
// Every event has a cursor. The last one seen is all that is kept: handed back as `after`, it brings each event that was missed,
// once and in order, and then what happens. So nothing here looks for doubles, and nothing is asked for again.
//
// Where events are missing for good the server says so (StreamGap). Whoever can read anew what is shown gives `read`: it reads that and
// answers the cursor up to which it did. It is called at the beginning too, and on a gap. Whoever cannot gives `begin`, which only
// answers the cursor to begin with: a connection that breaks before its first event has a place to go on from, too.
import { createClient } from 'graphql-ws';
import { judge } from './judge.js';
import { Waiting } from './waiting.js';

// The server pings every 25 s: when nothing comes for longer than this, the connection is dead, though nobody has said so.
const SILENCE_MS = 40_000;
// A connection that held so long was a good one: the next failure is a new story, and waits shortly.
const GOOD_MS = 10_000;

// The document has one field, of a type with `__typename` and `cursor`, and a variable `$after`. A subscription that the server completes is
// asked for once more: where nothing more comes of it the answer says so, as of any other that is refused.
//
// onEvent: whatever is told but a gap. onGap: why events are missing, before what follows them. onState: { phase, ... }, where
// phase is `connecting`, `live`, `waiting` (`seconds`), or the end: `login`, `refused` (`code`, `message`).
export function resume({ query, variables, token = null, read = null, begin = read, onEvent, onGap, onState }) {
  const waiting = new Waiting();
  let cursor = null;
  // Since when this connection is live.
  let liveAt = null;
  let stopped = false;
  let hangUp = () => {};
  // Read whenever it is sent: after a close with 1000 the client comes back by itself, whatever it was told, and must not do so with the
  // cursor of the beginning.
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
      const verdict = judge(end);
      if (verdict.phase) return onState(verdict);
      const good = cursor !== before || (liveAt !== null && performance.now() - liveAt > GOOD_MS);
      failures = good ? 0 : failures + 1;
      await waiting.after(failures, verdict.seconds, (seconds) => onState({ phase: 'waiting', seconds }));
    }
  }

  // One connection, until it ends. What it is refused with, or closed with, is thrown.
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
        // Who comes back how soon, and who does not, is decided here.
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
        // Taken before it is told: what it brings about may ask where we are.
        cursor = event.cursor;
        if (event.__typename !== 'StreamGap') return onEvent(event);
        onGap(event.reason);
        if (!read) return;
        // What is read now may hold what would be told next: from there on it is the answer's own cursor that counts.
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
    // Tries now rather than later.
    now: () => waiting.skip(),
    stop() {
      stopped = true;
      removeEventListener('online', online);
      hangUp();
      waiting.skip();
    },
  };
}

// Why a connection was ended by ourselves: to read anew what is shown.
const REREAD = Symbol('read anew');

// Calls when nothing was heard for too long.
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
