// A server of a test's own: it can be stopped and started again, on the same port and the same data.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { session { token } } }';

export class Server {
  static async start() {
    const server = new Server();
    server.folder = mkdtempSync(join(tmpdir(), 'waxwing-live-'));
    server.port = await freePort();
    server.url = `http://127.0.0.1:${server.port}/graphql`;
    await server.begin();
    return server;
  }

  async begin() {
    const options = ['serve', '--demo', '--listen', `127.0.0.1:${this.port}`, '--data-dir', join(this.folder, 'data')];
    const ours = ([name]) => !name.startsWith('WAXWING_');
    const env = { ...Object.fromEntries(Object.entries(process.env).filter(ours)), WAXWING_LOG: 'warn' };
    this.child = spawn(process.env.WAXWING_BINARY, options, { stdio: ['ignore', 'pipe', 'inherit'], env });
    this.gone = new Promise((resolve) => this.child.once('exit', resolve));
    for await (const line of createInterface({ input: this.child.stdout })) {
      const login = line.match(/Log in as\s+(\S+) with the password (\S+)/);
      if (login) {
        [, this.login, this.password] = login;
        return;
      }
    }
    throw new Error('the server ended before it was ready');
  }

  async end() {
    this.child.kill('SIGTERM');
    await this.gone;
  }

  async restart() {
    await this.end();
    await this.begin();
  }

  async remove() {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async logIn() {
    const variables = { input: { login: this.login, password: this.password } };
    const body = JSON.stringify({ query: LOG_IN, variables });
    const answer = await fetch(this.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    return (await answer.json()).data.logIn.session.token;
  }

  // What the server counts of something now.
  async gauge(name, transport) {
    const text = await fetch(this.url.replace('/graphql', '/metrics')).then((answer) => answer.text(), () => '');
    const found = text.match(new RegExp(`^waxwing_${name}\\{transport="${transport}"\\} (\\d+)$`, 'm'));
    return Number(found?.[1] ?? 0);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}
