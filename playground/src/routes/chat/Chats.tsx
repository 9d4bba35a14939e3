// The lists of chats beside the open one. On a narrow screen one of the two is shown.
import { useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { ConnectionLine } from '../../ui/ConnectionLine.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { ChatList } from './ChatList.tsx';
import { ChatSettings } from './ChatSettings.tsx';
import { ChatView } from './ChatView.tsx';
import { LISTS, type ListName } from './lists.ts';
import { NewChat } from './NewChat.tsx';
import { ChatsContext, useChats, type Chats as ChatsState } from './useChats.ts';
import { OutboxContext, useOutbox } from './useOutbox.ts';

const LABELS: Record<ListName, string> = { INBOX: 'Inbox', ARCHIVED: 'Archive', REQUESTS: 'Requests' };

type Panel = 'new' | 'settings';

export function Chats({ chatId }: { chatId: string | null }) {
  const chats = useChats();
  const outbox = useOutbox(chats);
  // Texts that are being written, by chat: they stay when another chat is opened.
  const drafts = useRef(new Map<string, string>());
  return (
    <ChatsContext value={chats}>
      <OutboxContext value={outbox}>
        <Side chats={chats} chatId={chatId} />
        {chatId && chats.hasBegun && <ChatView key={chatId} chatId={chatId} drafts={drafts.current} />}
        {chatId && !chats.hasBegun && <Loading />}
        {!chatId && <p className="empty choose">Choose a chat, or begin one with New chat.</p>}
      </OutboxContext>
    </ChatsContext>
  );
}

function Side({ chats, chatId }: { chats: ChatsState; chatId: string | null }) {
  const [list, setList] = useState<ListName>('INBOX');
  const to = useRecipient();
  const [open, setOpen] = useState<Panel | null>(to === null ? null : 'new');
  const buttons = { new: useRef<HTMLButtonElement>(null), settings: useRef<HTMLButtonElement>(null) };
  const navigate = useNavigate();
  const close = () => {
    if (to) void navigate('/chat', { replace: true });
    if (open) buttons[open].current?.focus();
    setOpen(null);
  };
  const button = (panel: Panel, label: string, className?: string) => (
    <button ref={buttons[panel]} type="button" className={className} aria-expanded={open === panel} onClick={() => (open === panel ? close() : setOpen(panel))}>
      {label}
    </button>
  );
  return (
    <aside className="chat-side" aria-label="Chats">
      <ConnectionLine connection={chats.connection} gap={chats.gap} onReconnect={chats.reconnect} />
      <div className="side-tools">
        <ListChoice list={list} requests={chats.lists.REQUESTS?.ids.length ?? 0} onChange={setList} />
        {button('new', 'New chat', 'primary')}
        {button('settings', 'Settings')}
      </div>
      {open === 'new' && <NewChat to={to} onClose={close} onOpened={() => setOpen(null)} />}
      {open === 'settings' && <ChatSettings onClose={close} />}
      {chats.hasBegun ? <ChatList key={list} list={list} chatId={chatId} /> : <Loading />}
    </aside>
  );
}

// The account that the link to this page names: `/chat?to=LOGIN`.
const useRecipient = () => new URLSearchParams(useLocation().search).get('to');

function ListChoice({ list, requests, onChange }: { list: ListName; requests: number; onChange: (list: ListName) => void }) {
  return (
    <fieldset className="choice">
      <legend className="visually-hidden">List</legend>
      {LISTS.map((name) => (
        <label key={name}>
          <input type="radio" name="list" value={name} checked={list === name} onChange={() => onChange(name)} />
          <span>
            {LABELS[name]}
            {name === 'REQUESTS' && requests > 0 && ` (${requests})`}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
