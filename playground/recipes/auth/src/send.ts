// Sends a query or a mutation with fetch and the token of the session.
import { currentToken, endSession } from './session.js';

export type Answer = {
  data?: any;
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string } }[];
};

export async function send(url: string, query: string, variables = {}): Promise<Answer> {
  const token = currentToken();
  const headers: Record<string, string> = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' };
  if (token) headers['Authorization'] = `Bearer ${token}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const answer: Answer = await response.json().catch(() => ({ errors: [{ message: `No JSON came with HTTP ${response.status}.` }] }));
  if (token && isEnded(response.status, answer)) endSession(token);
  return answer;
}

// The server answers 401 with this code if the token is unknown or its session has ended. A 401 without the code comes from a proxy and says nothing
// about the session.
function isEnded(status: number, { errors }: Answer) {
  return status === 401 && errors?.[0]?.extensions?.code === 'UNAUTHENTICATED';
}
