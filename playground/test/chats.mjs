// Accounts, chats and windows of the tests of `/chat`, on a server of the test file.
import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { ChatPage } from './chatpage.mjs';
import { Server } from './server.mjs';

const SIGN_UP = 'mutation ($input: SignUpInput!) { signUp(input: $input) { session { token expiresAt user { id login name } } userErrors { message } } }';
const ROWS = `query ($id: ID!, $after: String) {
  node(id: $id) { ... on Chat { messages(first: 100, after: $after) { edges { node { sequence text } } pageInfo { hasNextPage endCursor } } } }
}`;

const windows = [];
let accounts = 0;
export let server;

// Starts the server before the tests of the file, and closes the windows after each.
export function useServer() {
  before(async () => {
    server = await startServer('--rate-limits', 'off');
  });
  after(() => server?.remove());
  afterEach(closeWindows);
}

const startServer = (...options) => Server.start({ demo: false, options });

async function closeWindows() {
  for (const window of windows.splice(0)) await window.close();
}

// Runs a part of a test on another server.
export async function withServer(options, run) {
  const usual = server;
  server = await startServer(...options);
  try {
    await run();
    await closeWindows();
  } finally {
    await server.remove();
    server = usual;
  }
}

// New accounts with these names.
export async function signUp(...names) {
  const sessions = [];
  for (const name of names) {
    const login = `${name.toLowerCase()}${++accounts}`;
    const { session } = (await server.ask(null, SIGN_UP, { input: { login, name: `${name} ${accounts}`, password: 'correct horse battery' } })).signUp;
    sessions.push(session);
  }
  return sessions;
}

// New accounts that are friends, so that their chats do not wait for an answer.
export async function friends(...names) {
  const sessions = await signUp(...names);
  for (const [at, one] of sessions.entries()) {
    for (const other of sessions.slice(at + 1)) {
      await change(one, 'requestFriend', { userId: other.user.id });
      await change(other, 'acceptFriendRequest', { userId: one.user.id });
    }
  }
  return sessions;
}

export async function change({ token }, field, input, selection = '') {
  const type = `${field[0].toUpperCase()}${field.slice(1)}Input`;
  const { result } = await server.ask(token, `mutation ($input: ${type}!) { result: ${field}(input: $input) { ${selection} userErrors { message } } }`, { input });
  assert.deepEqual(result.userErrors, [], field);
  return result;
}

export const startChat = async (one, other) => (await change(one, 'startDirectChat', { userId: other.user.id }, 'chat { id }')).chat.id;
// Who has not begun a chat has it from its first row on.
export const startBoth = async (one, other) => (await startChat(one, other)) && startChat(other, one);
export const say = (session, chatId, text) => change(session, 'sendMessage', { chatId, text });

export async function window(session, chatId, options) {
  const opened = await ChatPage.open(server, session, options);
  windows.push(opened);
  if (chatId !== undefined) await opened.load(chatId);
  return opened;
}

// The texts of all rows of a chat, oldest first.
export async function rowsOf({ token }, id) {
  const rows = [];
  for (let after = null; ; ) {
    const { messages } = (await server.ask(token, ROWS, { id, after })).node;
    rows.push(...messages.edges.map(({ node }) => node));
    if (!messages.pageInfo.hasNextPage) return rows.reverse().map(({ text }) => text);
    after = messages.pageInfo.endCursor;
  }
}
