// The members of a group, with what the viewer's role allows: add, remove, change roles, hand over.
import { useId, useRef, useState } from 'react';
import { useClient } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import type { ChatRole } from '../../api/schema.generated.ts';
import { useViewer } from '../../session/useSession.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { Form, TextField } from '../../ui/Form.tsx';
import { MoreButton } from '../../ui/MoreButton.tsx';
import type { ChatCard } from './lists.ts';
import { ChatAddMembersDocument } from './operations/ChatAddMembers.generated.ts';
import { ChatRemoveMemberDocument } from './operations/ChatRemoveMember.generated.ts';
import { ChatSetRoleDocument } from './operations/ChatSetRole.generated.ts';
import { findPeople, loginsOf, namingLogins } from './people.ts';
import { nameOf, ROLES } from './texts.ts';
import type { Member, Members } from './useMembers.ts';

interface Props {
  chat: ChatCard;
  members: Members;
}

export function MemberList({ chat, members }: Props) {
  const title = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section className="members" aria-labelledby={title}>
      <h3 id={title} ref={heading} tabIndex={-1}>
        Members
      </h3>
      <ul>
        {members.items?.map((member) => (
          <MemberItem key={member.key} chat={chat} member={member} onChanged={() => heading.current?.focus({ preventScroll: true })} />
        ))}
      </ul>
      {members.next && <MoreButton label="More members" read={members.readNextPage} />}
      <p className="error" role="alert">
        {members.error}
      </p>
      {chat.viewerMember?.role !== 'MEMBER' && <AddForm chat={chat} />}
    </section>
  );
}

function MemberItem({ chat, member: { user, role }, onChanged }: { chat: ChatCard; member: Member; onChanged: () => void }) {
  const client = useClient();
  const viewer = useViewer();
  const [error, setError] = useState('');
  const own = chat.viewerMember?.role;
  const report = (errors: ErrorMessage[]) => {
    setError(messageOf(errors));
    // The removed button had the focus.
    if (errors.length === 0) onChanged();
  };
  const setRole = async (role: ChatRole) => {
    const { data, error } = await client.mutation(ChatSetRoleDocument, { input: { chatId: chat.id, userId: user?.id ?? '', role } }).toPromise();
    report(errorMessagesOf(error, data?.result));
  };
  const remove = async () => {
    const { data, error } = await client.mutation(ChatRemoveMemberDocument, { input: { chatId: chat.id, userId: user?.id ?? '' } }).toPromise();
    report(errorMessagesOf(error, data?.result));
  };
  const isOther = user !== null && user.id !== viewer?.id;
  const [isOwner, canRemove] = [own === 'OWNER', own === 'OWNER' || (own === 'ADMIN' && role === 'MEMBER')];
  const other = role === 'MEMBER' ? 'ADMIN' : 'MEMBER';
  return (
    <li>
      <span dir="auto">{nameOf(user)}</span> <span className="login">{user && `@${user.login}`}</span> {role !== 'MEMBER' && <span className="mark">{ROLES[role]}</span>}
      {isOther && (isOwner || canRemove) && (
        <div className="actions" role="group" aria-label={`Actions for ${user.name}`}>
          {isOwner && (
            <button type="button" className="quiet" onClick={() => void setRole(other)}>
              Make {ROLES[other].toLowerCase()}
            </button>
          )}
          {isOwner && <ConfirmButton className="quiet" label="Make owner" question="Hand the group over?" act={() => setRole('OWNER')} />}
          {canRemove && <ConfirmButton className="quiet" label="Remove" question="Remove from the group?" act={remove} />}
        </div>
      )}
      <p className="error" role="alert">
        {error}
      </p>
    </li>
  );
}

function AddForm({ chat }: { chat: ChatCard }) {
  const client = useClient();
  const add = async (fields: FormData): Promise<ErrorMessage[]> => {
    const logins = loginsOf(fields.get('logins'));
    const { people, errors } = await findPeople(client, logins);
    if (errors.length > 0) return errors;
    const input = { chatId: chat.id, userIds: people.map(({ id }) => id) };
    const { data, error } = await client.mutation(ChatAddMembersDocument, { input }).toPromise();
    return namingLogins(errorMessagesOf(error, data?.result), logins);
  };
  return (
    <Form label="Add members" className="one-line" act={add} onDone={(form) => form.reset()} button={(busy) => <button aria-disabled={busy}>Add</button>}>
      <TextField label="Logins" name="logins" placeholder="bram, chiara" required spellCheck={false} autoCapitalize="none" />
    </Form>
  );
}
