// What resume.js makes of an end, and how long it stays away: its parts that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../src/live/judge.js';
import { backOff } from '../src/live/waiting.js';

const closed = (code, reason = '') => ({ code, reason });
const failed = (code, extensions) => [{ message: 'why', extensions: { code, ...extensions } }];

test('what passes is come back to, after the time that the server names', () => {
  for (const code of [1001, 1006, 1011, 1012, 1013, 4408, 4499]) assert.deepEqual(judge(closed(code)), { seconds: null }, String(code));
  assert.deepEqual(judge(closed(1001, 'Going away, retry in 7 s')), { seconds: 7 });
  for (const nothing of [undefined, new Error('x'), [{ message: 'no JSON' }]]) assert.deepEqual(judge(nothing), { seconds: null });
  for (const code of ['STORAGE_UNAVAILABLE', 'OVERLOADED', 'DEADLINE_EXCEEDED', 'INTERNAL_SERVER_ERROR']) {
    assert.deepEqual(judge(failed(code)), { seconds: null }, code);
  }
  assert.deepEqual(judge(failed('RATE_LIMITED', { retryAfter: 12 })), { seconds: 12 });
});

test('a session that has ended asks to log in', () => {
  for (const end of [closed(4401), closed(4403, 'Forbidden'), failed('UNAUTHENTICATED')]) assert.deepEqual(judge(end), { phase: 'login' });
});

test('what would end the same way again is told', () => {
  for (const code of [1009, 4400, 4406, 4409, 4429]) {
    const { phase, message } = judge(closed(code, 'Too many sockets'));
    assert.deepEqual([phase, message], ['refused', `The server closed the socket: Too many sockets (${code}).`]);
  }
  assert.deepEqual(judge(failed('BAD_USER_INPUT')), { phase: 'refused', code: 'BAD_USER_INPUT', message: 'why' });
});

test('each wait is twice as long as the one before, up to half a minute, and half of it is chance', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backOff(failures, 1));
  assert.deepEqual(longest, [0.5, 1, 2, 4, 8, 16, 30, 30, 30]);
  assert.equal(backOff(3, 0), 2);
  assert.ok(backOff(1_000) >= 15 && backOff(1_000) <= 30);
});
