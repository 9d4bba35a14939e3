// Sends one operation to the server, as the session's user unless the caller's own headers say otherwise.
import { currentToken, endSession } from './session/store.js';

const ENDPOINT = '/graphql';

export async function send(request, ownHeaders) {
  const headers = new Headers(ownHeaders);
  const token = headers.has('Authorization') ? null : tokenFor(request);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  headers.set('Content-Type', 'application/json');
  headers.set('Accept', 'application/graphql-response+json, application/json');
  const { status, answer } = await post(headers, request);
  if (token && isDead(status, answer)) endSession(token, 'The session has ended. Log in again.');
  return answer;
}

// The schema is the same for everyone: a dead session must not take the documentation with it.
function tokenFor(request) {
  return request.operationName === 'IntrospectionQuery' ? null : currentToken();
}

async function post(headers, request) {
  try {
    const response = await fetch(ENDPOINT, { method: 'POST', headers, body: JSON.stringify(request) });
    return { status: response.status, answer: await read(response) };
  } catch {
    return { status: 0, answer: failure('The server could not be reached.') };
  }
}

async function read(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return failure(`The server answered HTTP ${response.status} without JSON.`);
  }
}

function failure(message) {
  return { errors: [{ message }] };
}

// Both signs are asked for: a proxy's own 401 says nothing about the session.
function isDead(status, answer) {
  return status === 401 && answer.errors?.[0]?.extensions?.code === 'UNAUTHENTICATED';
}
