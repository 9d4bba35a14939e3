// A mutation with the server key, and optionally for one of the users. The key stays on the backend.
const { WAXWING_URL = 'http://127.0.0.1:4000', WAXWING_KEY } = process.env;

export async function waxwing(query, input, externalId) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${WAXWING_KEY}` };
  if (externalId) headers['waxwing-act-as'] = externalId;
  const response = await fetch(`${WAXWING_URL}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query, variables: { input } }) });
  const { data, errors } = await response.json();
  const [result] = Object.values(data ?? {});
  const problem = errors?.[0] ?? result.userErrors[0];
  if (problem) throw new Error(problem.message);
  return result;
}
