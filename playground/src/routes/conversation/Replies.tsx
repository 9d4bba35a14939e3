// A list of replies. Each reply can show its own replies below it. At the maximum level, a link to the reply's own page is shown instead.
import { useState } from 'react';
import { Link } from 'react-router';
import type { ReplySort } from '../../api/schema.generated.ts';
import { countText } from '../../statuses/StatusActions.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { MoreButton } from '../../ui/MoreButton.tsx';
import { useFocusOnNextPage } from '../../ui/useFocusOnNextPage.ts';
import { EntryCard } from './EntryCard.tsx';
import { countsAfter, type ConversationEntry } from './entries.ts';
import { useReplies, type RepliesState } from './useReplies.ts';

const MAX_LEVEL = 4;

interface Props {
  label: string;
  replies: RepliesState;
  sort: ReplySort;
  // Nesting level of this list on the page, from 1.
  level?: number;
}

export function Replies({ label, replies, sort, level = 1 }: Props) {
  const { items, next, error, readNextPage } = replies;
  const [list, focusNext] = useFocusOnNextPage(items?.length ?? 0);
  const onDelete = (id: string) => {
    replies.remove(id);
    list.current?.focus({ preventScroll: true });
  };
  const readMore = () => {
    focusNext();
    return readNextPage();
  };
  return (
    <>
      {!items && !error && <Loading />}
      <ol ref={list} className="replies" aria-label={label} tabIndex={-1}>
        {items?.map((entry) => (
          <li key={entry.key} tabIndex={-1}>
            <Reply entry={entry} sort={sort} level={level} onChange={replies.update} onDelete={onDelete} />
          </li>
        ))}
      </ol>
      {next && <MoreButton label="More replies" read={readMore} />}
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}

interface ReplyProps {
  entry: ConversationEntry;
  sort: ReplySort;
  level: number;
  onChange: RepliesState['update'];
  onDelete: (id: string) => void;
}

function Reply({ entry, sort, level, onChange, onDelete }: ReplyProps) {
  const { id, depth, replyCount, status } = entry;
  const [isOpen, setIsOpen] = useState(false);
  const changeCount = (by: number) => status && onChange({ id: status.id, replyCount: replyCount + by });
  const replies = useReplies(isOpen ? { id, statusId: status?.id ?? null, depth } : null, sort, () => changeCount(-1));
  const isMaxLevel = level === MAX_LEVEL;
  const text = countText(replyCount, 'reply', 'replies');
  return (
    <>
      <EntryCard
        status={status}
        onChange={onChange}
        onDelete={onDelete}
        onReply={(reply) => {
          countsAfter(reply).forEach(onChange);
          if (isOpen) replies.add(reply);
          if (!isMaxLevel) setIsOpen(true);
        }}
      />
      {replyCount > 0 && isMaxLevel && status && (
        <Link className="deeper" to={`/conversation/${status.id}`}>
          Continue with {text}
        </Link>
      )}
      {(replyCount > 0 || !status) && !(isMaxLevel && status) && (
        <button type="button" className="deeper quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? 'Hide' : 'Show'} {replyCount > 0 ? text : 'replies'}
        </button>
      )}
      {isOpen && <Replies label={`Replies to ${status ? `@${status.author.login}` : 'a status that is not available'}`} replies={replies} sort={sort} level={level + 1} />}
    </>
  );
}
