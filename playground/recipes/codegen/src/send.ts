// Sends a generated document with fetch: variables and data have the document's own types.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { print } from 'graphql';

const url = `${process.env.WAXWING_URL ?? 'http://127.0.0.1:4000'}/graphql`;

export async function send<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: Variables, token?: string): Promise<Data> {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query: print(document), variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}
