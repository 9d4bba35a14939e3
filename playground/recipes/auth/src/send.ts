// Sends a query or a mutation with fetch and the token of the session.
import { currentToken, endSession } from './session.js';

export type GraphqlResult = {
  data?: any;
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string } }[];
};

export async function send(url: string, query: string, variables = {}): Promise<GraphqlResult> {
  const token = currentToken();
  const headers: Record<string, string> = { 'Content-Type': 'application/json', Accept: 'application/graphql-response+json' };
  if (token) headers['Authorization'] = `Bearer ${token}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const result: GraphqlResult = await response.json().catch(() => ({ errors: [{ message: `No JSON came with HTTP ${response.status}.` }] }));
  if (token && isEnded(response.status, result)) endSession(token);
  return result;
}

// The server responds with 401 and this code if the token is unknown or its session has ended. A 401 without the code comes from a proxy and says nothing
// about the session.
function isEnded(status: number, { errors }: GraphqlResult) {
  return status === 401 && errors?.[0]?.extensions?.code === 'UNAUTHENTICATED';
}
