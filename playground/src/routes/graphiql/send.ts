// Sends one operation of GraphiQL, as the session's user unless the caller's own headers say otherwise.
import { isRefusal } from '../../api/client.ts';
import { beginSession, currentToken, endRefusedSession, type Session } from '../../session/store.ts';

export interface Request {
  query: string;
  operationName?: string | null;
  variables?: unknown;
}

interface GraphqlResult {
  data?: Record<string, { session?: Session | null } | null> | null;
  errors?: { message: string; extensions?: { code?: string } }[];
}

export async function send(request: Request, ownHeaders?: Record<string, string>): Promise<GraphqlResult> {
  const headers = new Headers(ownHeaders);
  const isOwn = headers.has('Authorization');
  const token = isOwn ? null : tokenFor(request);
  if (token) headers.set('Authorization', `Bearer ${token}`);
  headers.set('Content-Type', 'application/json');
  headers.set('Accept', 'application/graphql-response+json, application/json');
  const { status, result } = await post(headers, request);
  if (token && isRefusal(status, result.errors?.[0]?.extensions?.code)) endRefusedSession(token);
  if (!isOwn) adopt(result);
  return result;
}

// A sign-up or log-in by an operation begins the session of the page.
function adopt({ data }: GraphqlResult): void {
  const session = data?.signUp?.session ?? data?.logIn?.session;
  if (session?.token && session.user?.login) beginSession({ token: session.token, user: session.user, expiresAt: session.expiresAt ?? null });
}

// Introspection is sent without a session, so that it works when the session has ended.
function tokenFor(request: Request): string | null {
  return request.operationName === 'IntrospectionQuery' ? null : currentToken();
}

async function post(headers: Headers, request: Request): Promise<{ status: number; result: GraphqlResult }> {
  try {
    const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify(request) });
    return { status: response.status, result: await read(response) };
  } catch {
    return { status: 0, result: failure('The server could not be reached.') };
  }
}

async function read(response: Response): Promise<GraphqlResult> {
  const text = await response.text();
  try {
    return JSON.parse(text) as GraphqlResult;
  } catch {
    return failure(`The server responded with HTTP ${response.status} without JSON.`);
  }
}

const failure = (message: string): GraphqlResult => ({ errors: [{ message }] });
