// Runs the browser tests with a new server on a free port with an empty data folder: `node test/run.mjs PATH_TO_WAXWING`.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const binary = process.argv[2];
if (!binary) {
  console.error('Usage: node test/run.mjs PATH_TO_WAXWING');
  process.exit(2);
}

// Reads the URL and the demo login that the server prints.
async function announced(server) {
  const told = {};
  for await (const line of createInterface({ input: server.stdout })) {
    told.url ??= line.match(/Playground\s+(http:\S+?)\/?$/)?.[1];
    const login = line.match(/Log in as\s+(\S+) with the password (\S+)/);
    if (login) return { ...told, login: login[1], password: login[2] };
  }
  throw new Error('the server ended before it was ready');
}

const ended = (child) => new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));

const folder = mkdtempSync(join(tmpdir(), 'waxwing-e2e-'));
const server = spawn(binary, ['serve', '--demo', '--listen', '127.0.0.1:0', '--data-dir', join(folder, 'data')], {
  stdio: ['ignore', 'pipe', 'inherit'],
  // Without the environment of another server, which could lead to its data.
  env: { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WAXWING_'))), WAXWING_LOG: 'warn' },
});
const gone = ended(server);
// Kills a server that does not become ready, which ends the wait.
const deadline = setTimeout(() => server.kill('SIGKILL'), 60_000);
let code = 1;
try {
  const { url, login, password } = await announced(server);
  clearTimeout(deadline);
  const files = [
    'audit.mjs', 'live.mjs', 'multipart.mjs', 'e2e.mjs', 'newcomer.mjs', 'resuming.mjs', 'figures.mjs', 'timeline.mjs', 'thread.mjs',
    'conversation.mjs', 'tags.mjs', 'people.mjs', 'policy.mjs', 'chat.mjs', 'outbox.mjs',
    'chatsettings.mjs', 'account.mjs', 'openid.mjs', 'accesstoken.mjs', 'ads.mjs', 'axe.mjs',
  ];
  const checks = files.map((file) => fileURLToPath(new URL(file, import.meta.url)));
  const env = { ...process.env, WAXWING_URL: url, WAXWING_LOGIN: login, WAXWING_PASSWORD: password, WAXWING_BINARY: binary };
  code = await ended(spawn(process.execPath, ['--test', '--test-concurrency=2', ...checks], { stdio: 'inherit', env }));
} finally {
  clearTimeout(deadline);
  server.kill('SIGTERM');
  await gone;
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);
