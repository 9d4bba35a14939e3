// Runs the audits of the GraphQL-over-HTTP working group against a running server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditServer } from 'graphql-http';
import { url } from './settings.mjs';

test('all audits of GraphQL over HTTP are passed', async () => {
  const audits = await auditServer({ url: `${url}/graphql`, fetchFn: fetch });
  const failed = audits.filter(({ status }) => status !== 'ok').map(({ id, name, reason }) => `${id} ${name}: ${reason}`);
  assert.deepEqual(failed, []);
  assert.ok(audits.length >= 61, `there were only ${audits.length}`);
});
