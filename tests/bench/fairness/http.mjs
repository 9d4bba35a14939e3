// Requests from any address of 127.0.0.0/8: all of them belong to this machine.
import { Agent, request } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../playground/package.json', import.meta.url));
export const WebSocket = require('ws');

// The timeout of a response in milliseconds, including the time to connect.
const PATIENCE = 5_000;

const agents = new Map();
function agentOf(from) {
  if (!agents.has(from)) agents.set(from, new Agent({ keepAlive: true, localAddress: from, maxSockets: 256 }));
  return agents.get(from);
}

// Sends one operation, over a new connection if `isNew`. Resolves to the duration, the status and the body of the response.
export const post = ({ port, token, from }, operation, isNew = false) =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    const connection = isNew ? { agent: false, localAddress: from } : { agent: agentOf(from) };
    const asked = request({ host: '127.0.0.1', port, path: '/graphql', method: 'POST', ...connection, headers, signal: AbortSignal.timeout(PATIENCE) }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        resolve({ took: performance.now() - began, status: response.statusCode, text, body: text.startsWith('{') ? JSON.parse(text) : {} });
      });
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(operation));
  });

// Opens a socket for operations.
export async function socket({ port, token, from }, onMessage = () => {}) {
  const opened = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { localAddress: from });
  await new Promise((resolve, reject) => {
    opened.once('open', resolve);
    opened.once('error', reject);
  });
  const ready = new Promise((resolve) => {
    opened.on('message', (data) => {
      const message = JSON.parse(data);
      if (message.type === 'connection_ack') resolve();
      else if (message.type === 'ping') opened.send('{"type":"pong"}');
      else onMessage(message);
    });
    opened.once('close', resolve);
  });
  opened.on('error', () => {});
  opened.send(JSON.stringify({ type: 'connection_init', payload: token ? { Authorization: `Bearer ${token}` } : {} }));
  await ready;
  return opened;
}

export const subscribe = (opened, id, query, variables) =>
  opened.send(JSON.stringify({ type: 'subscribe', id: String(id), payload: { query, variables } }));
