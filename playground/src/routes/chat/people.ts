// Finds accounts by their logins, and names them in errors.
import type { Client } from 'urql';
import type { ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import type { ChatPersonFragment } from './fragments/ChatPerson.generated.ts';
import { ChatUserDocument } from './operations/ChatUser.generated.ts';

// Logins that commas or spaces separate, with or without @.
export const loginsOf = (field: FormDataEntryValue | null): string[] =>
  String(field ?? '')
    .split(/[\s,]+/)
    .map((login) => login.replace(/^@/, ''))
    .filter(Boolean);

export async function findPeople(client: Client, logins: readonly string[]): Promise<{ people: ChatPersonFragment[]; errors: ErrorMessage[] }> {
  try {
    const found = await Promise.all(logins.map(async (login) => (await read(client, ChatUserDocument, { login: login.replace(/^@/, '') })).user));
    const missing = logins.filter((_, at) => !found[at]);
    const errors = missing.map((login) => ({ message: `There is no account @${login} for you.`, path: ['logins'] }));
    return { people: found.filter((person) => person !== null), errors };
  } catch (errors) {
    return { people: [], errors: errors as ErrorMessage[] };
  }
}

// The path of an error about one of several accounts is `["userIds", "3"]`.
export function namingLogins(errors: readonly ErrorMessage[], logins: readonly string[]): ErrorMessage[] {
  return errors.map(({ message, path }) => {
    const at = path.indexOf('userIds');
    const login = at < 0 ? undefined : logins[Number(path[at + 1])];
    return { message: login ? `@${login}: ${message}` : message, path: at < 0 ? path : ['logins'] };
  });
}
