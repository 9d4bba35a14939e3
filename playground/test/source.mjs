// Loads a module of the app, which is TypeScript, each time anew.
import { runnerImport } from 'vite';

export async function load(path) {
  const { module } = await runnerImport(new URL(`../src/${path}`, import.meta.url).pathname, { configFile: false, logLevel: 'error' });
  return module;
}
