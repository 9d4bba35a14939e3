// Builds recipes and runs them with npm and Node.js in the folder of the recipe.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const folder = (recipe) => fileURLToPath(new URL(`../${recipe}`, import.meta.url));
const vite = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url));

export async function build(recipe) {
  const npm = spawn('npm', ['run', '--silent', 'build'], { cwd: folder(recipe), stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => npm.once('close', resolve));
  assert.equal(code, 0, `${recipe} is not built:\n${output}`);
}

export class Program {
  // The lines of the output.
  lines = [];
  #waiting = new Set();

  static run(recipe, env) {
    return new Program(recipe, ['dist/main.js'], env);
  }

  // Vite's server; `preview` serves the build.
  static async vite(recipe, port, env, command = 'dev') {
    const program = new Program(recipe, [vite, command, '--port', String(port), '--strictPort'], env);
    await program.prints(/Local:/);
    return program;
  }

  constructor(recipe, command, env) {
    this.recipe = recipe;
    this.child = spawn(process.execPath, command, {
      cwd: folder(recipe),
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', ...env },
    });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
    this.ended.then(() => this.#changed((this.isOver = true)));
    for (const stream of [this.child.stdout, this.child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => this.#changed(this.lines.push(line)));
    }
  }

  #changed() {
    for (const look of this.#waiting) look();
  }

  // Waits for a line from index `from` on that matches, and returns it.
  prints(pattern, from = 0) {
    return new Promise((resolve, reject) => {
      const look = () => {
        const line = this.lines.slice(from).find((line) => pattern.test(line));
        if (line === undefined && !this.isOver) return;
        this.#waiting.delete(look);
        if (line !== undefined) resolve(line);
        else reject(new Error(`${this.recipe} never printed ${pattern}:\n${this.lines.join('\n')}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  // Waits for the end of the program, and returns its output.
  async output() {
    assert.equal(await this.ended, 0, `${this.recipe}:\n${this.lines.join('\n')}`);
    return this.lines;
  }

  async stop() {
    this.child.kill('SIGTERM');
    await this.ended;
  }
}
