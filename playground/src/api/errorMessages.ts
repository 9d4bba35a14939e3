// The errors of an operation as messages for the user: network errors, GraphQL errors, and `userErrors` of a mutation.
import type { CombinedError } from 'urql';

export interface ErrorMessage {
  message: string;
  // The field of the input; empty if the error belongs to no single field.
  path: readonly string[];
}

interface Payload {
  userErrors: readonly { message: string; path?: readonly string[] }[];
}

export function errorMessagesOf(error: CombinedError | undefined, payload?: Payload | null): ErrorMessage[] {
  const rows = payload?.userErrors ?? [];
  return [...errorsOf(error), ...rows.map(({ message, path }) => ({ message, path: path ?? [] }))];
}

export function messageOf(errors: readonly ErrorMessage[]): string {
  return errors.map(({ message }) => message).join(' ');
}

// The path of a GraphQL error is a path of the response, not of the input.
function errorsOf(error: CombinedError | undefined): ErrorMessage[] {
  if (!error) return [];
  if (error.networkError) return [{ message: networkMessage(error), path: [] }];
  return error.graphQLErrors.map(({ message }) => ({ message, path: [] }));
}

function networkMessage({ response }: CombinedError): string {
  return response?.status ? `The server responded with HTTP ${response.status} without JSON.` : 'The server could not be reached.';
}
