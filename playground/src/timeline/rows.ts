// The rows of a timeline, newest first: statuses, and marks of gaps.
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';

export const MAX_ROWS = 200;

export type Row =
  | { kind: 'status'; key: string; status: StatusCardFragment; isNew: boolean }
  | { kind: 'gap'; key: string; reason: string };

let gaps = 0;

export function statusRow(status: StatusCardFragment, isNew = false): Row {
  return { kind: 'status', key: status.id, status, isNew };
}

// Applies an event to the rows.
export function applyEvent(rows: Row[], event: TimelineEventFragment): Row[] {
  if (event.__typename === 'StatusPosted') return [statusRow(event.status, true), ...without(rows, event.status.id)];
  if (event.__typename === 'StatusEdited') return updateStatus(rows, event.status);
  if (event.__typename === 'StreamGap') return [{ kind: 'gap', key: `gap ${++gaps}`, reason: event.reason }, ...rows];
  return without(rows, event.statusId);
}

// Updates the counters of a status.
export function updateStatus(rows: Row[], change: StatusChange): Row[] {
  return rows.map((row) => (row.kind === 'status' && row.key === change.id ? { ...row, status: { ...row.status, ...change } } : row));
}

// Clears the likes of the previous viewer.
export function withoutLikes(rows: Row[]): Row[] {
  return rows.map((row) => (row.kind === 'status' ? { ...row, status: { ...row.status, viewerHasLiked: false, viewerHasReposted: false } } : row));
}

const without = (rows: Row[], key: string) => rows.filter((row) => row.key !== key);
