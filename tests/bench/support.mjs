// Helpers of the benchmarks that run a server: options, processes that end with the run, ports, quantiles, CPU time.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

// The path of the server's binary: the first argument of every benchmark.
export const binary = process.argv[2];

// Returns an option of the command line; a number where the default is one.
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  const value = at < 0 ? otherwise : process.argv[at + 1];
  return typeof otherwise === 'number' ? Number(value) : value;
}

// Returns a quantile of numbers; NaN for an empty list, which is neither above nor below any bound.
export const quantile = (numbers, part) =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * part))] ?? NaN;

export const median = (numbers) => quantile(numbers, 0.5);

// Returns a free port of loopback.
export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

// Waits until a condition is true, for 20 seconds at most.
export async function until(what, isSo) {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await Promise.resolve().then(isSo).catch(() => false)) return;
    await sleep(50);
  }
  throw new Error(`${what} did not come up`);
}

// Processes and a folder that exist until the run ends. The processes get no environment variables of this one that would configure them.
export class Bed {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
    this.children = [];
  }

  path(name) {
    return join(this.folder, name);
  }

  // Starts a command, on one core if that is given.
  start(command, args, { core, stdout = 'ignore', env = {} } = {}) {
    const words = [...(core === undefined ? [] : ['taskset', '-c', core]), command, ...args].map(String);
    const child = spawn(words[0], words.slice(1), { stdio: ['ignore', stdout, 'inherit'], env: { PATH: process.env.PATH, ...env } });
    const exited = new Promise((resolve) => {
      child.once('exit', resolve);
      child.once('error', resolve);
    });
    this.children.push({ child, exited });
    return child;
  }

  // Runs a command, and waits for its end.
  run(command, args) {
    return execFileSync(command, args.map(String), { stdio: 'ignore', env: { PATH: process.env.PATH } });
  }

  // Starts a Redis without persistence.
  async redis(core) {
    const port = await freePort();
    const args = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', this.folder];
    const child = this.start('redis-server', args, { core });
    await until('Redis', () => {
      this.run('redis-cli', ['-p', port, 'ping']);
      return true;
    });
    return { child, url: `redis://127.0.0.1:${port}` };
  }

  // Starts a server. Returns its address and its process.
  async server(args, options) {
    const port = await freePort();
    const child = this.start(binary, ['serve', '--listen', `127.0.0.1:${port}`, ...args], options);
    await until('the server', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok);
    return { child, port };
  }

  // Ends all processes, the latest first.
  async stop() {
    for (const { child, exited } of this.children.reverse()) {
      child.kill('SIGTERM');
      await exited;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

// Returns the CPU time of each thread of a process, in microseconds.
const threads = (child) => {
  const folder = `/proc/${child.pid}/task`;
  const used = new Map();
  for (const task of readdirSync(folder)) {
    try {
      used.set(task, Number(readFileSync(`${folder}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1_000);
    } catch (error) {
      // The thread ended between the two calls.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  return used;
};

// Returns the CPU time of a process since its start in microseconds, of the threads that still exist.
export const cpu = (child) => [...threads(child).values()].reduce((sum, used) => sum + used, 0);

// Returns a function that returns the CPU time of processes between the two calls, in microseconds. The function throws if a thread has
// ended meanwhile, because its CPU time would be missing.
export function cpuOf(children) {
  const before = children.map(threads);
  return () =>
    children.map((child, at) => {
      const after = threads(child);
      if ([...before[at].keys()].some((task) => !after.has(task))) throw new Error('a thread has ended');
      return [...after].reduce((sum, [task, used]) => sum + used - (before[at].get(task) ?? 0), 0);
    });
}

// Waits until processes are idle: less than a fiftieth of a core for a fifth of a second. Returns whether that happened within this many
// seconds.
export async function isCalm(children, seconds = 60) {
  for (let tries = 0; tries < seconds * 5; tries += 1) {
    const before = children.map(cpu);
    await sleep(200);
    if (children.every((child, at) => cpu(child) - before[at] < 4_000)) return true;
  }
  return false;
}

export const resident = (child) => Number(readFileSync(`/proc/${child.pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]) * 1024;
