// A list of statuses that is read a page at a time: bookmarks, quotes, a profile.
import type { ReactNode } from 'react';
import type { Pages } from '../api/usePages.ts';
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import { StatusCard } from '../statuses/StatusCard.tsx';
import { Loading } from '../ui/Loading.tsx';
import { MoreButton } from '../ui/MoreButton.tsx';
import { useFocusOnNextPage } from '../ui/useFocusOnNextPage.ts';
import './timeline.css';

export interface StatusItem {
  key: string;
  status: StatusCardFragment;
  repostedBy?: { login: string; name: string } | null;
}

interface Props {
  label: string;
  pages: Pages<StatusItem>;
  // Shown if there are none: says what to do first.
  empty: ReactNode;
}

export function StatusList({ label, pages, empty }: Props) {
  const { items, next, error, readNextPage, change } = pages;
  const [list, focusNext] = useFocusOnNextPage(items?.length ?? 0);
  const onChange = (changed: StatusChange) =>
    change((items) => items.map((item) => (item.status.id === changed.id ? { ...item, status: { ...item.status, ...changed } } : item)));
  const onDelete = (id: string) => {
    change((items) => items.filter(({ status }) => status.id !== id));
    list.current?.focus({ preventScroll: true });
  };
  return (
    <div className="stream">
      {!items && !error && <Loading />}
      <ol ref={list} className="timeline" aria-label={label} tabIndex={-1}>
        {items?.map(({ key, status, repostedBy }) => (
          <li key={key} data-id={status.id} tabIndex={-1}>
            <StatusCard status={status} repostedBy={repostedBy} onChange={onChange} onDelete={onDelete} />
          </li>
        ))}
      </ol>
      {items?.length === 0 && <div className="empty">{empty}</div>}
      {next && (
        <MoreButton
          label="More"
          read={() => {
            focusNext();
            return readNextPage();
          }}
        />
      )}
      <p className="error" role="alert">
        {error}
      </p>
    </div>
  );
}
