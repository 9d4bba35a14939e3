// The messages of a server without a mail server: files in the outbox of its data folder.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const TRIES = 400;
const EVERY_MS = 25;

// The messages to an address, oldest first.
async function messagesTo(server, address) {
  const folder = join(server.folder, 'data', 'outbox');
  const names = await readdir(folder).catch(() => []);
  const whole = names.filter((name) => /^\d.*\.eml$/.test(name)).toSorted();
  const sources = await Promise.all(whole.map((name) => readFile(join(folder, name), 'utf8')));
  return sources.filter((source) => source.includes(`\r\nTo: ${address}\r\n`)).map((source) => source.replaceAll('=\r\n', '').replaceAll('=3D', '='));
}

// Waits until an address has this number of messages, and returns the last.
export async function message(server, address, count = 1) {
  for (let tries = 0; tries < TRIES; tries++) {
    const messages = await messagesTo(server, address);
    if (messages.length >= count) return messages[count - 1];
    await wait(EVERY_MS);
  }
  throw new Error(`${address} has no message ${count}`);
}

// Its link.
export async function linkTo(server, address, count = 1) {
  const source = await message(server, address, count);
  const [link] = source.match(/http:\/\/\S+#token=[\w-]{43}/) ?? [];
  if (!link) throw new Error(`a message without a link: ${source}`);
  return link;
}
