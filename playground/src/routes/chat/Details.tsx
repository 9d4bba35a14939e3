// The details of a chat: what the viewer does with it alone, and for a group its name and members.
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { useClient, type TypedDocumentNode } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { Form, TextField } from '../../ui/Form.tsx';
import { onEscape, usePageEscape } from '../../ui/onEscape.ts';
import { useBusy } from '../../ui/useBusy.ts';
import type { ChatCard } from './lists.ts';
import { MemberList } from './MemberList.tsx';
import { ChatArchiveDocument } from './operations/ChatArchive.generated.ts';
import { ChatDeleteHistoryDocument } from './operations/ChatDeleteHistory.generated.ts';
import { ChatLeaveDocument } from './operations/ChatLeave.generated.ts';
import { ChatMuteDocument } from './operations/ChatMute.generated.ts';
import { ChatRenameDocument } from './operations/ChatRename.generated.ts';
import { ChatUnarchiveDocument } from './operations/ChatUnarchive.generated.ts';
import { ChatUnmuteDocument } from './operations/ChatUnmute.generated.ts';
import { Retention } from './Retention.tsx';
import { useAllChats } from './useChats.ts';
import type { Members } from './useMembers.ts';

const HOUR_MS = 3_600_000;
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface Props {
  chat: ChatCard;
  members: Members;
  onClose: () => void;
}

export function Details({ chat, members, onClose }: Props) {
  const section = useRef<HTMLElement>(null);
  usePageEscape(onClose);
  useEffect(() => section.current?.focus({ preventScroll: true }), []);
  return (
    <section ref={section} className="details" aria-label="Details" tabIndex={-1} onKeyDown={onEscape(onClose)}>
      <Settings chat={chat} />
      {chat.kind === 'GROUP' && chat.viewerMember?.role !== 'MEMBER' && <RenameForm key={chat.name} chat={chat} />}
      <Retention key={chat.id} chat={chat} />
      {chat.kind === 'GROUP' && <MemberList chat={chat} members={members} />}
      <button type="button" className="quiet" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

interface Result {
  result: { chat: ChatCard | null; userErrors: readonly { message: string; path: readonly string[] }[] } | null;
}

function Settings({ chat }: { chat: ChatCard }) {
  const client = useClient();
  const { keep, forget } = useAllChats();
  const navigate = useNavigate();
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const chatId = chat.id;
  // An action may replace its button by the opposite one: the settings take the focus of the removed button.
  const settings = useRef<HTMLDivElement>(null);
  const hasActed = useRef(false);
  useEffect(() => {
    if (hasActed.current && document.activeElement === document.body) settings.current?.focus({ preventScroll: true });
    hasActed.current = false;
  }, [chat]);
  async function send<Input>(document: TypedDocumentNode<Result, { input: Input }>, input: Input): Promise<void> {
    const { data, error } = await client.mutation(document, { input }).toPromise();
    setError(messageOf(errorMessagesOf(error, data?.result)));
    hasActed.current = true;
    if (data?.result?.chat) keep(data.result.chat);
  }
  const leave = async () => {
    const { data, error } = await client.mutation(ChatLeaveDocument, { input: { chatId } }).toPromise();
    setError(messageOf(errorMessagesOf(error, data?.result)));
    if (!data?.result?.leftChatId) return;
    void navigate('/chat');
    forget(chatId);
  };
  const button = (label: string, act: () => Promise<void>) => (
    <button type="button" aria-disabled={busy} onClick={() => void run(act)}>
      {label}
    </button>
  );
  return (
    <div ref={settings} className="settings" tabIndex={-1}>
      {chat.viewerHasMuted ? (
        button(chat.viewerMutedUntil ? `Unmute (muted until ${DATE.format(new Date(chat.viewerMutedUntil))})` : 'Unmute', () => send(ChatUnmuteDocument, { chatId }))
      ) : (
        <>
          {button('Mute', () => send(ChatMuteDocument, { chatId, until: null }))}
          {button('Mute for an hour', () => send(ChatMuteDocument, { chatId, until: new Date(Date.now() + HOUR_MS).toISOString() }))}
        </>
      )}
      {button(chat.viewerHasArchived ? 'Unarchive' : 'Archive', () => send(chat.viewerHasArchived ? ChatUnarchiveDocument : ChatArchiveDocument, { chatId }))}
      <ConfirmButton label="Delete history" question="Delete it for you alone?" act={() => send(ChatDeleteHistoryDocument, { chatId })} />
      {chat.kind === 'GROUP' && <ConfirmButton label="Leave group" question="Leave, and lose its messages?" act={leave} />}
      <p className="error" role="alert">
        {error}
      </p>
    </div>
  );
}

function RenameForm({ chat }: { chat: ChatCard }) {
  const client = useClient();
  const { keep } = useAllChats();
  const rename = async (fields: FormData) => {
    const { data, error } = await client.mutation(ChatRenameDocument, { input: { chatId: chat.id, name: String(fields.get('name')) } }).toPromise();
    if (data?.result?.chat) keep(data.result.chat);
    return errorMessagesOf(error, data?.result);
  };
  return (
    <Form label="Rename the group" className="one-line" act={rename} button={(busy) => <button aria-disabled={busy}>Rename</button>}>
      <TextField label="Name" name="name" defaultValue={chat.name ?? ''} required />
    </Form>
  );
}
