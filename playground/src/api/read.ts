// Reads from the server without the cache. Throws errors as `resume.js` expects them: GraphQL errors as an array.
import type { AnyVariables, Client, TypedDocumentNode } from 'urql';
import { errorMessagesOf } from './errorMessages.ts';

export async function read<Data, Variables extends AnyVariables>(
  client: Client,
  document: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client.query(document, variables, { requestPolicy: 'network-only' }).toPromise();
  if (error?.graphQLErrors.length) throw error.graphQLErrors;
  if (!data) throw errorMessagesOf(error);
  return data;
}
