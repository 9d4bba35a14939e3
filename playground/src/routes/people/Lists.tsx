// The newest lists of one side, which the other one can be on. A list can be the audience of a status.
import { useId, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { newKey } from '../../api/new-key.ts';
import { useBusy } from '../../ui/useBusy.ts';
import { PeopleAddToListDocument } from './operations/AddToList.generated.ts';
import { PeopleCreateListDocument } from './operations/CreateList.generated.ts';
import { PeopleRemoveFromListDocument } from './operations/RemoveFromList.generated.ts';
import type { SideView } from './world.ts';

const NEW_NAME = 'Circle';

interface Props {
  view: SideView;
  other: { id: string; name: string };
}

export function Lists({ view, other }: Props) {
  const title = useId();
  const lists = view.viewerLists?.edges.map(({ node }) => node) ?? [];
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const [, create] = useMutation(PeopleCreateListDocument);
  const [, add] = useMutation(PeopleAddToListDocument);
  const [, remove] = useMutation(PeopleRemoveFromListDocument);
  const key = useRef(newKey());
  const showErrors = (errors: { message: string }[]) => setError(errors.map(({ message }) => message).join(' '));
  const createList = async () => {
    const { data, error } = await create({ name: NEW_NAME, idempotencyKey: key.current });
    showErrors(errorMessagesOf(error, data?.createUserList));
    if (data?.createUserList?.userList) key.current = newKey();
  };
  const toggle = async (listId: string, isMember: boolean) => {
    const { data, error } = await (isMember ? remove : add)({ listId, userId: other.id });
    showErrors(errorMessagesOf(error, data?.result));
  };
  return (
    <section className="lists" aria-labelledby={title}>
      <h3 id={title}>Lists</h3>
      {lists.length === 0 && <p className="hint">Create a list to post to its members only.</p>}
      {lists.map(({ id, name }) => {
        const isMember = view.members[id]?.includes(other.id) ?? false;
        return (
          <label key={id}>
            <input type="checkbox" checked={isMember} aria-disabled={busy} onChange={() => void run(() => toggle(id, isMember))} />
            <span dir="auto">
              {other.name} is on {name}
            </span>
          </label>
        );
      })}
      {lists.length === 0 && (
        <button type="button" aria-disabled={busy} onClick={() => void run(createList)}>
          Create the list “{NEW_NAME}”
        </button>
      )}
      <p className="error" role="alert">
        {error}
      </p>
    </section>
  );
}
