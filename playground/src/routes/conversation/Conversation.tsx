// A status with what it replies to above it, and the replies to it or its quotes below.
import { useState } from 'react';
import { NavLink } from 'react-router';
import type { ReplySort } from '../../api/schema.generated.ts';
import { RelationChange } from '../../people/usePersonAction.ts';
import { useViewer } from '../../session/useSession.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../../statuses/LikeButton.tsx';
import { countText } from '../../statuses/StatusActions.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Ancestors } from './Ancestors.tsx';
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

export function Conversation({ statusId, showsQuotes }: Props) {
  const [sort, setSort] = useState<ReplySort>('OLD');
  const conversation = useConversation(statusId);
  const { status, ancestors, before, error } = conversation;
  const replies = useReplies(showsQuotes ? null : statusId, sort);
  const viewer = useViewer();
  const [notice, setNotice] = useState('');
  const posted = (parent: StatusCardFragment) => {
    conversation.update({ id: parent.id, replyCount: parent.replyCount + 1 });
    setNotice('The reply was posted.');
  };
  const onRelation = () => {
    void conversation.readAgain();
    void replies.readAgain();
  };
  const onChange = (change: StatusChange) => conversation.update(change);
  return (
    <RelationChange value={onRelation}>
      <Ancestors
        places={ancestors}
        hasMore={before !== null}
        readAbove={conversation.readAbove}
        onChange={onChange}
        onDelete={conversation.remove}
        onReply={(place) => place.status && posted(place.status)}
      />
      {status === undefined && !error && <Loading />}
      {status === null && (
        <p className="placeholder" role="status">
          This status is not available: it was deleted, or you cannot see it.
        </p>
      )}
      {status && (
        <>
          <Subject
            status={status}
            hasAncestors={ancestors.length > 0}
            onChange={onChange}
            onDelete={conversation.remove}
            onReply={(reply) => {
              replies.add(reply, 0);
              posted(status);
            }}
          />
          <div className="below">
            <nav aria-label="Below the status">
              <NavLink to={`/conversation/${statusId}`} end>
                {countText(status.replyCount, 'reply', 'replies')}
              </NavLink>
              <NavLink to={`/conversation/${statusId}/quotes`}>{countText(status.quoteCount, 'quote', 'quotes')}</NavLink>
            </nav>
            {!showsQuotes && <SortChoice sort={sort} onChange={setSort} />}
          </div>
        </>
      )}
      {status && showsQuotes && <Quotes id={statusId} version={status.quoteCount} />}
      {!showsQuotes && (status || (replies.items?.length ?? 0) > 0) && (
        <>
          <Replies label="Replies" replies={replies} sort={sort} />
          {replies.items?.length === 0 && <p className="nothing">No replies yet. {firstAction(viewer !== null, status)}</p>}
        </>
      )}
      <p className="error" role="alert">
        {error}
      </p>
      <p className="visually-hidden" role="status">
        {notice}
      </p>
    </RelationChange>
  );
}

function firstAction(isLoggedIn: boolean, status: StatusCardFragment | null | undefined): string {
  if (!isLoggedIn) return 'Log in above to write the first one.';
  return status?.viewerCanReply ? 'Write the first one above.' : '';
}

function SortChoice({ sort, onChange }: { sort: ReplySort; onChange: (sort: ReplySort) => void }) {
  return (
    <label>
      <span className="visually-hidden">Sort by</span>
      <select autoComplete="off" value={sort} onChange={({ target }) => onChange(target.value as ReplySort)}>
        {Object.entries(SORTS).map(([name, label]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
