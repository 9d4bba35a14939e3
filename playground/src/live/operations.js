// What the live page asks of the server.
import { operations } from '../operations.js';

export const request = operations(
  'Live',
  import.meta.glob('./operations/*.graphql', { query: '?raw', import: 'default', eager: true }),
  import.meta.glob('./fragments/*.graphql', { query: '?raw', import: 'default', eager: true }),
);
