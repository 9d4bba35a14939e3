// The public stream: it has no past to read, only the place where it stands. After a gap the list is marked, and what it shows is looked at once more:
// some of it may have been deleted meanwhile.
import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { read } from '../api/read.ts';
import { useEvents } from '../api/useEvents.ts';
import { useSession } from '../session/useSession.ts';
import { gapText, noticeOf } from './gaps.ts';
import { TimelinePublicBeginDocument } from './operations/PublicBegin.generated.ts';
import { TimelinePublicEventsDocument, type TimelinePublicEventsSubscriptionVariables } from './operations/PublicEvents.generated.ts';
import { TimelineStillThereDocument } from './operations/StillThere.generated.ts';
import { useRows } from './useRows.ts';

// The most ids that `nodes` takes.
const MAX_NODES = 100;

export type Filter = Omit<TimelinePublicEventsSubscriptionVariables, 'after'>;

// `version` tells one submission of the filter from the next.
export function usePublic(filter: Filter, version: number) {
  const client = useClient();
  const rows = useRows();
  const [gap, setGap] = useState<string | null>(null);
  const token = useSession().session?.token ?? null;
  // The rows stay when another account logs in, and its likes are not known.
  useEffect(() => rows.forgetLikes(), [token]);
  const notice = (reason: string) => setGap(noticeOf(gapText(reason)));

  async function dropDeleted() {
    const ids = rows.ids();
    for (let at = 0; at < ids.length; at += MAX_NODES) {
      const some = ids.slice(at, at + MAX_NODES);
      const { nodes } = await read(client, TimelineStillThereDocument, { ids: some });
      const gone = some.filter((_, index) => nodes[index] === null);
      for (const statusId of gone) rows.push({ __typename: 'StatusDeleted', cursor: '', statusId });
    }
  }

  const following = useEvents(`${version} ${JSON.stringify(filter)}`, {
    document: TimelinePublicEventsDocument,
    variables: filter,
    asViewer: false,
    async begin() {
      const { statusEventsSyncCursor } = await read(client, TimelinePublicBeginDocument, {});
      return statusEventsSyncCursor;
    },
    onData: ({ statusEvents }) => rows.push(statusEvents),
    onGap(reason) {
      rows.push({ __typename: 'StreamGap', cursor: '', reason: reason as never });
      notice(reason);
      dropDeleted().catch(() => notice('UNCHECKED'));
    },
  });
  const clear = () => {
    setGap(null);
    rows.show([]);
  };
  return { ...following, ...rows, gap, clear };
}
