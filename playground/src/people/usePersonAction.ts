// Sends an action about another account. Returns the message of its errors.
import { createContext, use } from 'react';
import { useClient } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { ACTIONS, type ActionName, type PersonAction } from './actions.ts';

// Called after a change between the viewer and another account. There is no event for what it hides or shows, so lists are read again.
export const RelationChange = createContext<() => void>(() => {});

export function usePersonAction() {
  const client = useClient();
  const onChange = use(RelationChange);
  return async (name: ActionName, userId: string): Promise<string> => {
    const { document }: PersonAction = ACTIONS[name];
    const { data, error } = await client.mutation(document, { userId }).toPromise();
    const errors = errorMessagesOf(error, data?.result);
    if (errors.length === 0) onChange();
    return messageOf(errors);
  };
}
