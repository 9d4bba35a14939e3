// The code blocks of a Markdown file that name their source file: ```ts playground/recipes/auth/src/send.ts
import { readFileSync } from 'node:fs';

const root = new URL('../../../', import.meta.url);
const BLOCK = /^```(\w+) (\S+)\n([\s\S]*?)^```$/gm;

export function excerpts(file) {
  const text = readFileSync(new URL(file, root), 'utf8');
  return [...text.matchAll(BLOCK)].map(([, , source, code]) => ({ source, code }));
}

export const read = (file) => readFileSync(new URL(file, root), 'utf8');
