// Begins a direct chat with an account, or makes a group.
import { useEffect, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useClient } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import type { ChatHistory } from '../../api/schema.generated.ts';
import { ChoiceField, Form, TextField } from '../../ui/Form.tsx';
import { onEscape, usePageEscape } from '../../ui/onEscape.ts';
import type { ChatCard } from './lists.ts';
import { ChatCreateGroupDocument } from './operations/ChatCreateGroup.generated.ts';
import { ChatStartDirectDocument } from './operations/ChatStartDirect.generated.ts';
import { findPeople, loginsOf, namingLogins } from './people.ts';
import { useAllChats } from './useChats.ts';

const HISTORIES: Record<ChatHistory, string> = { FROM_JOIN: 'From their joining on', ALL: 'Everything' };

interface Props {
  // The login of the account, if a link has named it.
  to: string | null;
  onClose: () => void;
  onOpened: () => void;
}

export function NewChat({ to, onClose, onOpened }: Props) {
  const { keep } = useAllChats();
  const navigate = useNavigate();
  const open = (chat: ChatCard) => {
    keep(chat);
    onOpened();
    // The page that a link opened would begin the chat again.
    void navigate(`/chat/${encodeURIComponent(chat.id)}`, { replace: to !== null });
  };
  usePageEscape(onClose);
  return (
    <section className="new-chat" aria-label="New chat" onKeyDown={onEscape(onClose)}>
      <DirectForm to={to} onChat={open} />
      <GroupForm onChat={open} />
      <button type="button" className="quiet" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

function DirectForm({ to, onChat }: { to: string | null; onChat: (chat: ChatCard) => void }) {
  const client = useClient();
  const { state } = useLocation();
  const [error, setError] = useState('');
  const section = useRef<HTMLDivElement>(null);
  const start = async (login: string): Promise<ErrorMessage[]> => {
    const { people, errors } = await findPeople(client, [login]);
    const [person] = people;
    if (!person) return errors.map(({ message }) => ({ message, path: ['login'] }));
    const { data, error } = await client.mutation(ChatStartDirectDocument, { input: { userId: person.id } }).toPromise();
    if (data?.result?.chat) onChat(data.result.chat);
    return errorMessagesOf(error, data?.result);
  };
  useEffect(() => {
    section.current?.querySelector('input')?.focus();
    // The link on a profile begins the chat at once; a link from elsewhere waits for the button.
    if (to && state?.begins) void start(to).then((errors) => setError(messageOf(errors)));
  }, []);
  return (
    <div ref={section}>
      <Form label="Start a chat" aliases={{ userId: 'login' }} act={(fields) => start(String(fields.get('login')))} button={(busy) => <button className="primary" aria-disabled={busy}>Start chat</button>}>
        <TextField label="With (login)" name="login" defaultValue={to ?? ''} required spellCheck={false} autoCapitalize="none" />
      </Form>
      <p className="error" role="alert">
        {error}
      </p>
    </div>
  );
}

function GroupForm({ onChat }: { onChat: (chat: ChatCard) => void }) {
  const client = useClient();
  const create = async (fields: FormData, idempotencyKey: string): Promise<ErrorMessage[]> => {
    const logins = loginsOf(fields.get('logins'));
    const { people, errors } = await findPeople(client, logins);
    if (errors.length > 0) return errors;
    const input = { name: String(fields.get('name')), userIds: people.map(({ id }) => id), history: fields.get('history') as ChatHistory, idempotencyKey };
    const { data, error } = await client.mutation(ChatCreateGroupDocument, { input }).toPromise();
    if (data?.result?.chat) onChat(data.result.chat);
    return namingLogins(errorMessagesOf(error, data?.result), logins);
  };
  return (
    <Form label="Create a group" act={create} button={(busy) => <button className="primary" aria-disabled={busy}>Create group</button>}>
      <TextField label="Name of the group" name="name" required />
      <TextField label="Members (logins)" name="logins" placeholder="bram, chiara" required spellCheck={false} autoCapitalize="none" />
      <ChoiceField label="Who joins later reads" name="history" options={HISTORIES} />
    </Form>
  );
}
