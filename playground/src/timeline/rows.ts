// The rows of a timeline, newest first: statuses, and marks of gaps.
import type { StatusCardFragment } from '../statuses/fragments/StatusCard.generated.ts';
import type { StatusChange } from '../statuses/LikeButton.tsx';
import type { TimelineEventFragment } from './fragments/TimelineEvent.generated.ts';

export const MAX_ROWS = 200;
// A repost adds no row if its status is among as many rows at the top.
const REPOST_ROWS = 100;

// The account by whose repost a status is in a timeline.
export interface Reposter {
  id: string;
  login: string;
  name: string;
}

export type TimelineRow =
  | { kind: 'status'; key: string; status: StatusCardFragment; repostedBy: Reposter | null; isNew: boolean }
  | { kind: 'gap'; key: string; reason: string };

let gaps = 0;

export function statusRow(status: StatusCardFragment, repostedBy: Reposter | null = null, isNew = false): TimelineRow {
  return { kind: 'status', key: repostedBy ? `${status.id} ${repostedBy.id}` : status.id, status, repostedBy, isNew };
}

// Whether an edited status belongs to a timeline now.
export type Belongs = (status: StatusCardFragment) => boolean;

// Applies an event to the rows.
export function applyEvent(rows: TimelineRow[], event: TimelineEventFragment, belongs?: Belongs): TimelineRow[] {
  if (event.__typename === 'StatusPosted') return [statusRow(event.status, null, true), ...without(rows, (row) => row.key === event.status.id)];
  if (event.__typename === 'StatusEdited') return applyEdit(rows, event.status, belongs);
  if (event.__typename === 'StatusReposted') return applyRepost(rows, event.status, event.repostedBy);
  if (event.__typename === 'RepostUndone') return without(rows, (row) => row.key === `${event.statusId} ${event.repostedById}`);
  if (event.__typename === 'StreamGap') return [{ kind: 'gap', key: `gap ${++gaps}`, reason: event.reason }, ...rows];
  if (event.__typename === 'StatusDeleted') return without(rows, (row) => row.kind === 'status' && row.status.id === event.statusId);
  return rows;
}

// A repost of a status that is near the top adds no row, as in a read of the home.
function applyRepost(rows: TimelineRow[], status: StatusCardFragment, repostedBy: Reposter): TimelineRow[] {
  const isNearTop = rows.slice(0, REPOST_ROWS).some((row) => row.kind === 'status' && row.status.id === status.id);
  if (isNearTop) return rows;
  const repost = statusRow(status, repostedBy, true);
  return [repost, ...without(rows, (row) => row.key === repost.key)];
}

// An edit may bring a status in, at its place by the time of posting, or take it out.
function applyEdit(rows: TimelineRow[], status: StatusCardFragment, belongs?: Belongs): TimelineRow[] {
  if (belongs && !belongs(status)) return without(rows, (row) => row.key === status.id);
  if (!belongs || rows.some((row) => row.key === status.id)) return updateStatus(rows, status);
  const at = rows.findIndex((row) => row.kind === 'status' && row.status.postedAt < status.postedAt);
  return rows.toSpliced(at < 0 ? rows.length : at, 0, statusRow(status));
}

// Updates the counters of a status.
export function updateStatus(rows: TimelineRow[], change: StatusChange): TimelineRow[] {
  return rows.map((row) => (row.kind === 'status' && row.status.id === change.id ? { ...row, status: { ...row.status, ...change } } : row));
}

// The fields of a status that depend on the viewer, as for a viewer who has done nothing.
const OF_NOBODY = { viewerHasLiked: false, viewerHasReposted: false, viewerHasBookmarked: false, viewerCanReply: false };

// Clears the likes, reposts and bookmarks of the previous viewer.
export function withoutLikes(rows: TimelineRow[]): TimelineRow[] {
  return rows.map((row) => (row.kind === 'status' ? { ...row, status: { ...row.status, ...OF_NOBODY } } : row));
}

const without = (rows: TimelineRow[], isGone: (row: TimelineRow) => boolean) => rows.filter((row) => !isGone(row));
