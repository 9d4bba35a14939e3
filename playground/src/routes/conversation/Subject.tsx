// The status that the page is about, with a box to reply to it.
import { useEffect, useRef } from 'react';
import { useViewer } from '../../session/useSession.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { REFUSALS } from '../../statuses/replyPolicy.ts';
import { StatusBox } from '../../statuses/StatusBox.tsx';
import { EntryCard } from './EntryCard.tsx';

interface Props {
  status: StatusCardFragment;
  hasAncestors: boolean;
  onChange: (change: StatusChange) => void;
  onDelete: (id: string) => void;
  onReply: (reply: StatusCardFragment) => void;
}

export function Subject({ status, hasAncestors, ...actions }: Props) {
  const viewer = useViewer();
  const section = useRef<HTMLElement>(null);
  // The page begins here, below what is above. A control that has the focus, such as that of the session, keeps it.
  useEffect(() => {
    if (document.activeElement === document.body) section.current?.focus({ preventScroll: true });
    if (hasAncestors) section.current?.scrollIntoView({ block: 'center' });
  }, [status.id]);
  return (
    <>
      <section ref={section} className="subject" aria-label={`Status of @${status.author.login}`} tabIndex={-1}>
        <EntryCard status={status} isSubject {...actions} />
      </section>
      {!viewer && <p className="hint">Log in to reply, to like, and to quote.</p>}
      {viewer && !status.viewerCanReply && <p className="hint">{REFUSALS[status.replyPolicy]}</p>}
      {viewer && status.viewerCanReply && (
        <StatusBox
          key={`${viewer.id} ${status.id}`}
          className="reply-box"
          label="Reply"
          field="Reply"
          placeholder={`Your reply to @${status.author.login}`}
          about={{ replyToId: status.id }}
          onPosted={actions.onReply}
        />
      )}
    </>
  );
}
