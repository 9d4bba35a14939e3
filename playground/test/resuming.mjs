// The parts of resume.js that need no browser: the decision after the end of a connection, and the backoff.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideReconnect } from '../src/live/reconnect.js';
import { backOff } from '../src/live/waiting.js';

const closed = (code, reason = '') => ({ code, reason });
const failed = (code, extensions) => [{ message: 'why', extensions: { code, ...extensions } }];

test('after a temporary error it reconnects, after the wait that the server names', () => {
  for (const code of [1001, 1006, 1011, 1012, 1013, 4408, 4499]) assert.deepEqual(decideReconnect(closed(code)), { seconds: null }, String(code));
  assert.deepEqual(decideReconnect(closed(1001, 'Going away, retry in 7 s')), { seconds: 7 });
  for (const nothing of [undefined, new Error('x'), [{ message: 'no JSON' }]]) assert.deepEqual(decideReconnect(nothing), { seconds: null });
  for (const code of ['STORAGE_UNAVAILABLE', 'OVERLOADED', 'DEADLINE_EXCEEDED', 'INTERNAL_SERVER_ERROR']) {
    assert.deepEqual(decideReconnect(failed(code)), { seconds: null }, code);
  }
  assert.deepEqual(decideReconnect(failed('RATE_LIMITED', { retryAfter: 12 })), { seconds: 12 });
});

test('after the end of a session it asks to log in', () => {
  for (const end of [closed(4401), closed(4403, 'Forbidden'), failed('UNAUTHENTICATED')]) assert.deepEqual(decideReconnect(end), { phase: 'login' });
});

test('a final error is reported', () => {
  for (const code of [1009, 4400, 4406, 4409, 4429]) {
    const { phase, message } = decideReconnect(closed(code, 'Too many sockets'));
    assert.deepEqual([phase, message], ['refused', `The server closed the socket: Too many sockets (${code}).`]);
  }
  assert.deepEqual(decideReconnect(failed('BAD_USER_INPUT')), { phase: 'refused', code: 'BAD_USER_INPUT', message: 'why' });
});

test('each wait doubles, up to half a minute, and half of it is random', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 7, 1_000].map((failures) => backOff(failures, 1));
  assert.deepEqual(longest, [0.5, 1, 2, 4, 8, 16, 30, 30, 30]);
  assert.equal(backOff(3, 0), 2);
  assert.ok(backOff(1_000) >= 15 && backOff(1_000) <= 30);
});
