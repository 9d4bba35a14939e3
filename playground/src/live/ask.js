// Asks one operation. Errors are thrown as resume() takes them: as the array of them.
import { send } from '../send.js';
import { request } from './operations.js';

export async function ask(name, variables) {
  const { data, errors } = await send(request(name, variables));
  if (errors) throw errors;
  return data;
}
