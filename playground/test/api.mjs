// Requests to the server without the browser, for the results that the page is to show.
import { login, password, url } from './settings.mjs';

const LOG_IN = `mutation ($input: LogInInput!) {
  logIn(input: $input) { session { token } userErrors { message } }
}`;

export async function logInWith(somePassword = password) {
  const { data } = await ask(LOG_IN, { input: { login, password: somePassword } });
  return data.logIn;
}

// Returns the error's code if the session of the token is unknown or has ended.
export async function endSessionOf(token) {
  const { data, errors } = await ask('mutation { logOut { endedSessionId } }', {}, { Authorization: `Bearer ${token}` });
  return errors?.[0].extensions.code ?? data.logOut.endedSessionId;
}

export async function demo() {
  const response = await fetch(new URL('/playground.json', url));
  return (await response.json()).demo ?? null;
}

async function ask(query, variables, headers) {
  const response = await fetch(new URL('/graphql', url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}
