// Asks one operation. Errors are thrown as resume() takes them: as the array of them.
import { send } from '../send.js';

export async function ask(operationName, query, variables) {
  const { data, errors } = await send({ query, operationName, variables });
  if (errors) throw errors;
  return data;
}
