// A Redis for one test, independent of the servers that use it: several can share it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './server.mjs';

export class Redis {
  static async start() {
    const redis = new Redis();
    redis.folder = mkdtempSync(join(tmpdir(), 'waxwing-redis-'));
    const port = await freePort();
    redis.url = `redis://127.0.0.1:${port}`;
    const options = ['--port', port, '--bind', '127.0.0.1', '--dir', redis.folder, '--appendonly', 'yes', '--save', ''];
    redis.child = spawn('redis-server', options.map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
    redis.gone = new Promise((resolve) => redis.child.once('exit', resolve));
    for await (const line of createInterface({ input: redis.child.stdout })) {
      if (line.includes('Ready to accept connections')) return redis;
    }
    throw new Error('Redis ended before it was ready');
  }

  async remove() {
    this.child.kill('SIGTERM');
    await this.gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
