// What the page asks of the server, and what the server has against it.
import { operations } from '../operations.js';
import { send } from '../send.js';

const request = operations(
  'Ads',
  import.meta.glob('./operations/*.graphql', { query: '?raw', import: 'default', eager: true }),
  import.meta.glob('./fragments/*.graphql', { query: '?raw', import: 'default', eager: true }),
);

// Asks one operation of one field. `complaints` are errors and userErrors alike: rows with a message, some with a path. What came in spite
// of errors is there too.
export async function ask(name, variables) {
  const { data, errors } = await send(request(name, variables));
  const [payload] = Object.values(data ?? {});
  return { payload: payload ?? null, complaints: [...(errors ?? []).map(withoutPath), ...(payload?.userErrors ?? [])] };
}

// An error's path leads into the answer, that of a userErrors row into the input.
function withoutPath({ message, extensions }) {
  return { message, code: extensions?.code, path: [] };
}

// All that is wrong, for one place to say it.
export function said(complaints) {
  return complaints.map(({ message }) => message).join(' ');
}
