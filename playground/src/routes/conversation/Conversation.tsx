// A status with what it replies to above it, and the replies to it or its quotes below.
import { useState, type ReactNode } from 'react';
import { NavLink } from 'react-router';
import type { ReplySort } from '../../api/schema.generated.ts';
import { RelationChange } from '../../people/usePersonAction.ts';
import { useViewer } from '../../session/useSession.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import { countText } from '../../statuses/StatusActions.tsx';
import { ConnectionLine } from '../../ui/ConnectionLine.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { SortChoice } from '../../ui/SortChoice.tsx';
import { useAnnouncement } from '../../ui/useAnnouncement.ts';
import { Ancestors } from './Ancestors.tsx';
import { EventListeners, useConversationEvent, useConversationEvents } from './events.ts';
import { countsAfter } from './entries.ts';
import { Quotes } from './Quotes.tsx';
import { Replies } from './Replies.tsx';
import { Subject } from './Subject.tsx';
import { useConversation } from './useConversation.ts';
import { useReplies } from './useReplies.ts';
import './conversation.css';

const SORTS: Record<ReplySort, string> = { OLD: 'Oldest', NEW: 'Newest', LIKES: 'Most likes' };

interface Props {
  statusId: string;
  showsQuotes: boolean;
}

export function Conversation(props: Props) {
  const { listeners, hasBegun, connection, gap, reconnect } = useConversationEvents();
  return (
    <EventListeners value={listeners}>
      <ConnectionLine connection={connection} gap={gap} onReconnect={reconnect} />
      {hasBegun ? <Statuses {...props} /> : <Loading />}
    </EventListeners>
  );
}

function Statuses({ statusId, showsQuotes }: Props) {
  const [sort, setSort] = useState<ReplySort>('OLD');
  const conversation = useConversation(statusId);
  const { status, ancestors, before, error, update, remove } = conversation;
  const parent = { id: statusId, statusId, depth: 0 };
  const replies = useReplies(showsQuotes ? null : parent, sort, () => status && update({ id: statusId, replyCount: status.replyCount - 1 }));
  const announcement = useNewReplies(statusId);
  const [notice, setNotice] = useState('');
  const onReply = (reply: StatusCardFragment) => {
    countsAfter(reply).forEach(update);
    if (reply.replyTo?.status?.id === statusId) replies.add(reply);
    setNotice('The reply was posted.');
  };
  const onRelation = () => {
    void conversation.readAgain();
    void replies.readAgain();
  };
  const actions = { onChange: update, onDelete: remove, onReply };
  return (
    <RelationChange value={onRelation}>
      <Ancestors entries={ancestors} hasMore={before !== null} readAbove={conversation.readAbove} {...actions} />
      {status === undefined && !error && <Loading />}
      {status === null && (
        <p className="placeholder" role="status">
          This status is not available: it was deleted, or you cannot see it.
        </p>
      )}
      {status && <Subject status={status} hasAncestors={ancestors.length > 0} {...actions} />}
      {status && <Below status={status}>{!showsQuotes && <SortChoice sorts={SORTS} sort={sort} onChange={setSort} />}</Below>}
      {status && showsQuotes && <Quotes id={statusId} version={status.quoteCount} />}
      {status !== undefined && !showsQuotes && (
        <>
          <Replies label="Replies" replies={replies} sort={sort} />
          {status && replies.items?.length === 0 && <Empty canReply={status.viewerCanReply} />}
        </>
      )}
      <p className="error" role="alert">
        {error}
      </p>
      <p className="visually-hidden" role="status">
        {notice}
      </p>
      <p className="visually-hidden" aria-live="polite">
        {announcement}
      </p>
    </RelationChange>
  );
}

// The two lists below a status, each with a link.
function Below({ status: { id, replyCount, quoteCount }, children }: { status: StatusCardFragment; children: ReactNode }) {
  return (
    <div className="below">
      <nav aria-label="Below the status">
        <NavLink to={`/conversation/${id}`} end>
          {countText(replyCount, 'reply', 'replies')}
        </NavLink>
        <NavLink to={`/conversation/${id}/quotes`}>{countText(quoteCount, 'quote', 'quotes')}</NavLink>
      </nav>
      {children}
    </div>
  );
}

function Empty({ canReply }: { canReply: boolean }) {
  const viewer = useViewer();
  const action = viewer ? 'Write the first one above.' : 'Log in above to write the first one.';
  return <p className="nothing">No replies yet. {(canReply || !viewer) && action}</p>;
}

// Announces the replies of others that events have brought.
function useNewReplies(statusId: string): string {
  const viewer = useViewer();
  const [count, setCount] = useState(0);
  useConversationEvent((event) => {
    if (event.__typename !== 'StatusPosted') return;
    const { replyTo, author } = event.status;
    if (replyTo?.status?.id === statusId && author.id !== viewer?.id) setCount((count) => count + 1);
  });
  return useAnnouncement(count, (added) => (added === 1 ? 'One new reply' : `${added} new replies`));
}
