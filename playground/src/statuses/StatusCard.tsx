// One status: author, message, what it quotes, and actions.
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';
import { Message } from '../entities/Message.tsx';
import { PersonButton } from '../people/PersonButton.tsx';
import { useViewer } from '../session/useSession.ts';
import { Time } from '../ui/Time.tsx';
import { EditBox, EditedMark } from './EditStatus.tsx';
import type { StatusCardFragment } from './fragments/StatusCard.generated.ts';
import { Quoted } from './Quoted.tsx';
import { ReplyPolicyMark } from './ReplyPolicyMenu.tsx';
import { StatusActions, type ActionProps, type Writing } from './StatusActions.tsx';
import { AudienceMark } from './StatusAudience.tsx';
import { StatusBox } from './StatusBox.tsx';
import './statuses.css';

interface Props extends ActionProps {
  // The account that has reposted the status into a list.
  repostedBy?: { login: string; name: string } | null;
  // The viewer has replied. Only within a conversation.
  onReply?: (reply: StatusCardFragment) => void;
}

export function StatusCard({ repostedBy, onReply, ...props }: Props) {
  const { status, within, onChange } = props;
  const [error, setError] = useState('');
  const [notice, setNotice] = useState('');
  const viewer = useViewer();
  const [writing, setWriting] = useState<Writing | null>(null);
  const footer = useRef<HTMLElement>(null);
  // A draft belongs to the session in which it was written.
  useEffect(() => setWriting(null), [viewer?.id]);
  const close = () => {
    // The focus returns to the button that opened the box.
    if (writing) footer.current?.querySelector<HTMLElement>(`.${writing}`)?.focus({ preventScroll: true });
    setWriting(null);
  };
  const open = (what: Writing) => {
    setNotice('');
    setWriting(what);
  };
  return (
    <article className="status">
      {repostedBy && (
        <p className="reposted-by">
          <span aria-hidden="true">↻</span> Reposted by <Link to={`/profile/${repostedBy.login}`}>{repostedBy.name}</Link>
        </p>
      )}
      <Head status={status} hasPage={within !== 'conversation' && within !== 'subject'} />
      <Message text={status.message} entities={status.entities} />
      <Quoted status={status} />
      <EditedMark status={status} />
      <footer ref={footer}>
        <StatusActions {...props} onError={setError} onWrite={open} />
      </footer>
      <p className="error" role="alert">
        {error}
      </p>
      {writing === 'edit' && <EditBox status={status} onChange={onChange} onClose={close} />}
      {writing === 'quote' && (
        <StatusBox
          className="writing"
          label="Post quote"
          field="Quote"
          placeholder="What do you say about it?"
          about={{ quotedStatusId: status.id }}
          onPosted={({ quotedStatus }) => {
            if (quotedStatus) onChange({ id: quotedStatus.id, quoteCount: quotedStatus.quoteCount });
            setNotice('The quote was posted.');
          }}
          onClose={close}
        />
      )}
      {writing === 'reply' && (
        <StatusBox
          className="writing"
          label="Post reply"
          field="Reply"
          placeholder={`Your reply to @${status.author.login}`}
          about={{ replyToId: status.id }}
          onPosted={(reply) => onReply?.(reply)}
          onClose={close}
        />
      )}
      <p className="hint" role="status" hidden={!notice}>
        {notice}
      </p>
    </article>
  );
}

function Head({ status, hasPage }: { status: StatusCardFragment; hasPage: boolean }) {
  const { id, author, postedAt, replyPolicy, replyTo } = status;
  return (
    <header>
      <PersonButton person={author} /> <span className="login">@{author.login}</span> <AudienceMark status={status} /> <ReplyPolicyMark policy={replyPolicy} />
      {hasPage && replyTo && (
        <span className="to">
          {replyTo.status ? (
            <>
              to <Link to={`/conversation/${replyTo.status.id}`}>@{replyTo.status.author.login}</Link>
            </>
          ) : (
            'a reply'
          )}
        </span>
      )}
      <Link to={`/conversation/${id}`} className="when">
        <Time at={postedAt} />
      </Link>
    </header>
  );
}
