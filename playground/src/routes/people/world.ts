// The data that each of the two people sees at one moment, and the viewers of each of their statuses: read from the server with both sessions and
// without one.
import type { Client } from 'urql';
import { publicClient } from '../../api/client.ts';
import { read } from '../../api/read.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import type { PeopleSideQuery } from './operations/Side.generated.ts';
import { PeopleMembersDocument, type PeopleMembersQuery } from './operations/Members.generated.ts';
import { PeopleSeenDocument } from './operations/Seen.generated.ts';
import { PeopleSideDocument } from './operations/Side.generated.ts';
import { explain, type Explanation, type Relation } from './policy.ts';
import { otherSide, SIDES, type SideName } from './sessions.ts';

// The latest statuses of each person, requests and lists that are shown.
const COUNTS = { statuses: 5, requests: 10, lists: 3 };

export type BySide<T> = Record<SideName, T>;
export type Viewer = SideName | 'logged out';
export const VIEWERS: readonly Viewer[] = [...SIDES, 'logged out'];

// Whether a viewer sees a status: the response of the server, and the explanation.
export interface Sight {
  viewer: Viewer;
  sees: boolean;
  explanation: Explanation;
}

export interface ShownStatus {
  status: StatusCardFragment;
  author: SideName;
  sights: Sight[];
}

export interface SideView extends Omit<PeopleSideQuery, 'viewer'> {
  viewer: NonNullable<PeopleSideQuery['viewer']>;
  // The ids of the members of each list.
  members: Record<string, string[]>;
  // Statuses of both that this side sees, newest first.
  statuses: ShownStatus[];
  // The number of the other's latest statuses that this side does not see.
  hiddenCount: number;
}

export type World = BySide<SideView>;

export async function readWorld(clients: BySide<Client>, logins: BySide<string>): Promise<World> {
  const [left, right] = await Promise.all(SIDES.map((side) => readSide(clients[side], logins[otherSide(side)])));
  if (!left || !right) throw new Error('a side was not read');
  const views = { left, right };
  const own = SIDES.flatMap((author) => statusesOf(views[author].viewer).map((status) => ({ author, status })));
  const ids = own.map(({ status }) => status.id);
  const [leftSees, rightSees, nobodySees] = await Promise.all([clients.left, clients.right, publicClient].map((client) => readSeen(client, ids)));
  const seen: Record<Viewer, Set<string> | undefined> = { left: leftSees, right: rightSees, 'logged out': nobodySees };
  const sightsOf = (author: SideName, status: StatusCardFragment) =>
    VIEWERS.map((viewer) => ({ viewer, sees: seen[viewer]?.has(status.id) ?? false, explanation: explanationOf(views, author, status, viewer) }));
  const statuses = own.map(({ author, status }) => ({ author, status, sights: sightsOf(author, status) }));
  return { left: viewOf('left', views, statuses), right: viewOf('right', views, statuses) };
}

type SideRead = Omit<SideView, 'statuses' | 'hiddenCount'>;

async function readSide(client: Client, other: string): Promise<SideRead> {
  const { viewer, ...side } = await read(client, PeopleSideDocument, { other, ...COUNTS });
  if (!viewer) throw [{ message: 'The session has ended.' }];
  const own = statusesOf(viewer).flatMap(({ audienceList }) => audienceList?.id ?? []);
  const shown = side.viewerLists?.edges.map(({ node }) => node.id) ?? [];
  const lists = [...new Set([...own, ...shown])];
  const members = await Promise.all(lists.map(async (id) => [id, await readMembers(client, id)] as const));
  return { ...side, viewer, members: Object.fromEntries(members) };
}

async function readMembers(client: Client, listId: string): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ; ) {
    const { node }: PeopleMembersQuery = await read(client, PeopleMembersDocument, { listId, after });
    if (node?.__typename !== 'UserList') return ids;
    ids.push(...node.members.edges.map((edge) => edge.node.id));
    if (!node.members.pageInfo.hasNextPage) return ids;
    after = node.members.pageInfo.endCursor;
  }
}

async function readSeen(client: Client, ids: string[]): Promise<Set<string>> {
  const { nodes } = await read(client, PeopleSeenDocument, { ids });
  return new Set(nodes.flatMap((node) => node?.id ?? []));
}

function viewOf(side: SideName, views: BySide<SideRead>, statuses: ShownStatus[]): SideView {
  const view = views[side];
  const own = new Map([...statusesOf(view.viewer), ...statusesOf(view.user)].map((status) => [status.id, status]));
  // The fields of a status as this side reads them: only the author knows the list.
  const shown = statuses.flatMap((it) => {
    const status = own.get(it.status.id);
    return status ? [{ ...it, status }] : [];
  });
  const hiddenCount = statuses.filter(({ author, status }) => author !== side && !own.has(status.id)).length;
  return { ...view, hiddenCount, statuses: shown.toSorted((one, other) => other.status.postedAt.localeCompare(one.status.postedAt)) };
}

function explanationOf(views: BySide<SideRead>, author: SideName, status: StatusCardFragment, viewer: Viewer): Explanation {
  const facts = { audience: status.audience, isPrivate: views[author].viewer.isPrivate };
  if (viewer === 'logged out') return explain(facts, viewer);
  return explain(facts, viewer === author ? 'author' : relationOf(views, author, status, viewer));
}

function relationOf(views: BySide<SideRead>, author: SideName, { audienceList }: StatusCardFragment, viewer: SideName): Relation {
  // An account that blocks the reader is not found.
  const [seenByViewer, seenByAuthor] = [views[viewer].user, views[author].user];
  return {
    isBlocked: !seenByViewer || !seenByAuthor || seenByViewer.viewerIsBlocking || seenByAuthor.viewerIsBlocking,
    isFollower: seenByViewer?.viewerIsFollowing ?? false,
    isFriend: seenByViewer?.viewerFriendship === 'FRIENDS',
    isMember: audienceList && (views[author].members[audienceList.id]?.includes(views[viewer].viewer.id) ?? false),
  };
}

type Profile = Pick<NonNullable<PeopleSideQuery['user']>, 'profileTimeline'>;
const statusesOf = (user: Profile | null) => user?.profileTimeline.entries.edges.map(({ node }) => node.status) ?? [];
