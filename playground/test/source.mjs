// Loads a TypeScript module of the app, without the module cache.
import { runnerImport } from 'vite';

export async function load(path) {
  const { module } = await runnerImport(new URL(`../src/${path}`, import.meta.url).pathname, { configFile: false, logLevel: 'error' });
  return module;
}
