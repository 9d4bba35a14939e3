// Tests that a recipe that follows a home resumes when the server is killed. The recipe prints a line for each event.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Redis } from '../../test/redis.mjs';
import { Server } from '../../test/server.mjs';
import { Program } from './program.mjs';

const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { id } userErrors { message } } }';

export function resumes(name, recipe, script) {
  describe(name, () => {
    let redis, server, other, ada, client;

    // Two servers share one Redis: that of the client, which is killed, and one that accepts posts meanwhile.
    before(async () => {
      redis = await Redis.start();
      const options = ['--rate-limits', 'off', '--events-kept', '100'];
      server = await Server.start({ redis, options });
      other = await Server.start({ redis, options });
      ada = await other.logIn();
      const env = { WAXWING_URL: server.origin, WAXWING_LOGIN: server.login, WAXWING_PASSWORD: server.password };
      client = new Program(recipe, [script], env);
      await client.prints(/^home: 20 entries/);
      // An event proves that the subscription runs.
      await post('before');
      await client.prints(/^posted: before$/);
    });

    after(async () => {
      await client?.stop();
      await server?.remove();
      await other?.remove();
      await redis?.remove();
    });

    const post = (message) => other.ask(ada, POST, { input: { message } });

    async function away(work) {
      const from = client.lines.length;
      await server.end('SIGKILL');
      await client.prints(/^connection closed$/, from);
      await work();
      await server.begin();
    }

    test('missed events arrive once and in order', async () => {
      await away(async () => {
        for (const message of ['missed 1', 'missed 2', 'missed 3']) await post(message);
      });
      await client.prints(/^posted: missed 3$/);
      await post('after');
      await client.prints(/^posted: after$/);
      const posted = client.lines.filter((line) => line.startsWith('posted:'));
      assert.deepEqual(posted, ['before', 'missed 1', 'missed 2', 'missed 3', 'after'].map((message) => `posted: ${message}`));
    });

    test('after a gap the home is read again', async () => {
      const from = client.lines.length;
      await away(async () => {
        for (let at = 1; at <= 150; at++) await post(`many ${at}`);
      });
      await client.prints(/^gap: EXPIRED$/, from);
      await client.prints(/^home: 20 entries, the newest: many 150$/, from);
    });

    test('the end of the session is reported', async () => {
      await other.ask(ada, 'mutation { endSessions(input: { allOthers: true }) { endedSessionIds } }');
      await client.prints(/^session: ended, ask for a log-in$/);
    });
  });
}
