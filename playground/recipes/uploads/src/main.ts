// Uploads a picture to a storage, posts a status with its link, and shows Waxwing's response to a file.
import { parts } from './links.js';
import { startStorage } from './storage.js';
import { upload } from './upload.js';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;
const login = process.env.WAXWING_LOGIN ?? 'ada';
const password = process.env.WAXWING_PASSWORD ?? 'waxwing-demo';

const LOG_IN = 'mutation ($input: LogInInput!) { logIn(input: $input) { session { token } } }';
const POST = 'mutation ($input: PostStatusInput!) { postStatus(input: $input) { status { message } userErrors { code message } } }';

const { logIn } = await send(LOG_IN, { login, password });
const token = logIn.session.token;

const storage = await startStorage();
const picture = new Blob([new Uint8Array([137, 80, 78, 71])], { type: 'image/png' });
const link = await upload(storage.url, picture);

const { postStatus } = await send(POST, { message: `The view from here: ${link}.` }, token);
for (const part of parts(postStatus.status.message)) {
  console.log(part.href ? `link: ${part.href}` : `text: ${part.text}`);
}
const stored = await fetch(link);
console.log('stored:', stored.headers.get('content-type'), (await stored.arrayBuffer()).byteLength, 'bytes');

// The GraphQL multipart request specification for files is not supported.
const form = new FormData();
form.set('operations', JSON.stringify({ query: POST }));
form.set('0', picture);
const refused = await fetch(url, { method: 'POST', body: form });
console.log('a file sent to Waxwing:', refused.status, (await refused.json()).errors[0].extensions.code);
storage.stop();

async function send(query: string, input: object, token?: string) {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables: { input } }) });
  return (await response.json()).data;
}
