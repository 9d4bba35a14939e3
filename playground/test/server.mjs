// A server for one test. It can be stopped, killed and started again on the same port and data. Servers with one Redis are replicas of one installation.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { session { token } } }';

export class Server {
  // With demo data, or with `demo: false` an empty store.
  static async start({ redis, demo = true, options = [] } = {}) {
    const server = new Server();
    server.demo = demo;
    server.folder = mkdtempSync(join(tmpdir(), 'waxwing-live-'));
    server.port = await freePort();
    server.origin = `http://127.0.0.1:${server.port}`;
    server.url = `${server.origin}/graphql`;
    const data = redis ? ['--redis', redis.url] : ['--data-dir', join(server.folder, 'data')];
    server.options = ['serve', ...(demo ? ['--demo'] : []), '--listen', `127.0.0.1:${server.port}`, ...data, ...options];
    await server.begin();
    return server;
  }

  async begin() {
    const ours = ([name]) => !name.startsWith('WAXWING_');
    const env = { ...Object.fromEntries(Object.entries(process.env).filter(ours)), WAXWING_LOG: 'warn' };
    this.child = spawn(process.env.WAXWING_BINARY, this.options, { stdio: ['ignore', 'pipe', 'inherit'], env });
    this.gone = new Promise((resolve) => this.child.once('exit', resolve));
    for await (const line of createInterface({ input: this.child.stdout })) {
      if (!this.demo && /Playground/.test(line)) return;
      const login = line.match(/Log in as\s+(\S+) with the password (\S+)/);
      if (login) {
        [, this.login, this.password] = login;
        return;
      }
    }
    throw new Error('the server ended before it was ready');
  }

  async end(signal = 'SIGTERM') {
    this.child.kill(signal);
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

  async logIn(login = this.login) {
    const { logIn } = await this.ask(null, LOG_IN, { input: { login, password: this.password } });
    return logIn.session.token;
  }

  async ask(token, query, variables) {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch(this.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    const { data, errors } = await response.json();
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  }

  // The current value of a gauge.
  async gauge(name, transport) {
    const text = await fetch(this.url.replace('/graphql', '/metrics')).then((response) => response.text(), () => '');
    const found = text.match(new RegExp(`^waxwing_${name}\\{transport="${transport}"\\} (\\d+)$`, 'm'));
    return Number(found?.[1] ?? 0);
  }
}

export function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}
