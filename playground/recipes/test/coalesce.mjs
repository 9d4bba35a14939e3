// The order of the reads that events ask for, without a server.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

// Begins each read by hand: `reads` has a name and a promise for each one.
async function begin() {
  const { coalesce } = await import('../resume/dist/coalesce.js');
  const [reads, errors] = [[], []];
  const read = (name) => () => new Promise((resolve, reject) => reads.push({ name, resolve, reject }));
  const list = coalesce({ newer: read('newer'), again: read('again'), onError: (reason) => errors.push(reason) });
  return { ...list, reads, errors, names: () => reads.map(({ name }) => name) };
}

// Until everything that is resolved has run.
const settled = () => new Promise((resolve) => setImmediate(resolve));

export function coalesces() {
  describe('coalesce', () => {
    test('many events during a read ask for one more', async () => {
      const { readNewer, reads } = await begin();
      for (let event = 0; event < 3; event++) readNewer();
      assert.equal(reads.length, 1);
      reads[0].resolve(false);
      await settled();
      assert.equal(reads.length, 2);
      reads[1].resolve(false);
      await settled();
      assert.equal(reads.length, 2);
      readNewer();
      assert.equal(reads.length, 3);
    });

    test('it reads until there is nothing newer', async () => {
      const { readNewer, reads } = await begin();
      readNewer();
      for (const [page, hasMore] of [true, true, false].entries()) {
        assert.equal(reads.length, page + 1);
        reads[page].resolve(hasMore);
        await settled();
      }
      assert.equal(reads.length, 3);
    });

    test('a read that fails is reported, and the next event reads again', async () => {
      const { readNewer, reads, errors } = await begin();
      readNewer();
      reads[0].reject('no response');
      await settled();
      assert.deepEqual(errors, ['no response']);
      assert.equal(reads.length, 1);
      readNewer();
      readNewer();
      reads[1].reject('no response');
      await settled();
      assert.equal(reads.length, 3, 'the event that came during the read');
    });

    test('after a gap the first page is read, after the read that runs, until that succeeds', async () => {
      const { readNewer, readAgain, reads, names } = await begin();
      readNewer();
      readAgain();
      reads[0].resolve(true);
      await settled();
      assert.deepEqual(names(), ['newer', 'again']);
      reads[1].reject('no response');
      await settled();
      readNewer();
      assert.deepEqual(names(), ['newer', 'again', 'again']);
      reads[2].resolve();
      await settled();
      readNewer();
      assert.deepEqual(names(), ['newer', 'again', 'again', 'newer']);
    });
  });
}
