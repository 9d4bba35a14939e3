// One row of a chat: a text with its actions, or a line about members or the name.
import { useRef, useState } from 'react';
import { messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { useViewer } from '../../session/useSession.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { WritingBox } from '../../ui/WritingBox.tsx';
import { MAX_LENGTH } from './Composer.tsx';
import type { ChatCard, ChatRow } from './lists.ts';
import { ReactionPicker, Reactions } from './Reactions.tsx';
import { contentOf, DELETED, nameOf, systemText } from './texts.ts';
import { tickOf, type Member } from './useMembers.ts';
import { useRowActions, type RowActions } from './useRowActions.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

interface Props {
  row: ChatRow;
  before: ChatRow | null;
  chat: ChatCard;
  members: readonly Member[];
  jumpTo: (sequence: number) => void;
  onReply: ((row: ChatRow) => void) | null;
}

export function MessageRow(props: Props) {
  const viewer = useViewer();
  const { row } = props;
  if (row.kind !== 'TEXT') {
    return (
      <li className="row system" data-sequence={row.sequence} tabIndex={-1} dir="auto">
        {systemText(row, viewer?.id)}
      </li>
    );
  }
  return <TextRow {...props} isOwn={row.sender !== null && row.sender.id === viewer?.id} />;
}

function TextRow({ row, before, chat, members, jumpTo, onReply, isOwn }: Props & { isOwn: boolean }) {
  const viewer = useViewer();
  const [isEditing, setIsEditing] = useState(false);
  const [error, setError] = useState('');
  const item = useRef<HTMLLIElement>(null);
  const actions = useRowActions(chat.id, row.id);
  const isGone = row.isDeleted || row.isHidden;
  const continues = before?.kind === 'TEXT' && before.sender?.id === row.sender?.id && !before.isHidden;
  const showErrors = async (act: Promise<ErrorMessage[]>) => setError(messageOf(await act));
  const focus = () => item.current?.focus({ preventScroll: true });
  const close = () => {
    setIsEditing(false);
    focus();
  };
  // The removed button had the focus.
  const remove = () => showErrors(actions.remove()).then(focus);
  const names = ['row', 'text-row', isOwn && 'own', isGone && 'gone', continues && 'continues'];
  return (
    <li ref={item} className={names.filter(Boolean).join(' ')} data-sequence={row.sequence} tabIndex={-1}>
      {!continues && (
        <p className={isOwn || chat.kind === 'DIRECT' ? 'visually-hidden' : 'who-wrote'} dir="auto">
          {isOwn ? 'You' : row.isHidden ? 'Hidden' : nameOf(row.sender)}
        </p>
      )}
      <div className="bubble">
        {row.replyTo && <Quote replyTo={row.replyTo} jumpTo={jumpTo} />}
        {isEditing ? (
          <WritingBox className="writing" label="Save" field="Changed message" max={MAX_LENGTH} text={row.text} send={actions.edit} sendsOnEnter onSent={close} onCancel={close} />
        ) : (
          <p className="message" dir="auto">
            {contentOf(row)}
          </p>
        )}
        <p className="row-foot">
          {row.editedAt && <span className="edited">edited</span>}
          <time dateTime={row.sentAt} title={DATE.format(new Date(row.sentAt))}>
            {TIME.format(new Date(row.sentAt))}
          </time>
          {isOwn && !row.isDeleted && <Ticks row={row} members={members} viewerId={viewer?.id} />}
        </p>
        {!isGone && !isEditing && (
          <Tools row={row} chat={chat} isOwn={isOwn} actions={actions} onReply={onReply} onEdit={() => setIsEditing(true)} onRemove={remove} act={showErrors} />
        )}
      </div>
      <Reactions reactions={row.reactions} canReact={onReply !== null && !isGone} toggle={(emoji, isOn) => showErrors(actions.react(emoji, isOn))} />
      <p className="error" role="alert">
        {error}
      </p>
    </li>
  );
}

interface ToolsProps {
  row: ChatRow;
  chat: ChatCard;
  isOwn: boolean;
  actions: RowActions;
  onReply: ((row: ChatRow) => void) | null;
  onEdit: () => void;
  onRemove: () => Promise<void>;
  act: (act: Promise<ErrorMessage[]>) => Promise<void>;
}

function Tools({ row, chat, isOwn, actions, onReply, onEdit, onRemove, act }: ToolsProps) {
  const isManager = chat.kind === 'GROUP' && chat.viewerMember !== null && chat.viewerMember.role !== 'MEMBER';
  return (
    <div className="tools">
      {onReply && <ReactionPicker reactions={row.reactions} toggle={(emoji, isOn) => act(actions.react(emoji, isOn))} />}
      {onReply && (
        <button type="button" className="quiet" onClick={() => onReply(row)}>
          Reply
        </button>
      )}
      {isOwn && onReply && (
        <button type="button" className="quiet" onClick={onEdit}>
          Edit
        </button>
      )}
      {(isOwn || isManager) && <ConfirmButton className="quiet" label="Delete" question="Delete for everybody?" act={onRemove} />}
    </div>
  );
}

// The text that this one answers. Pressing it shows that text.
function Quote({ replyTo, jumpTo }: { replyTo: NonNullable<ChatRow['replyTo']>; jumpTo: (sequence: number) => void }) {
  return (
    <button type="button" className="quote" onClick={() => jumpTo(replyTo.sequence)}>
      <span className="visually-hidden">In reply to </span>
      <strong dir="auto">{replyTo.isHidden ? 'Hidden' : nameOf(replyTo.sender)}</strong>{' '}
      <span className="quote-text" dir="auto">
        {replyTo.isDeleted ? DELETED : contentOf(replyTo)}
      </span>
    </button>
  );
}

function Ticks({ row, members, viewerId }: { row: ChatRow; members: readonly Member[]; viewerId: string | undefined }) {
  const { state, text } = tickOf(row, members, viewerId);
  return (
    <span className="ticks" data-state={state} title={text}>
      <span aria-hidden="true">{state === 'sent' ? '✓' : '✓✓'}</span>
      <span className="visually-hidden">{text}</span>
    </span>
  );
}
