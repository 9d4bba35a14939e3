// The public stream, which has events but no pages to read. After a gap a row marks it, and the statuses on the page are checked: some may have been
// deleted. All of it is read without a session, so that it continues when the session ends.
import { useEffect, useState } from 'react';
import { publicClient } from '../api/client.ts';
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

// `version` counts the submissions of the filter: the same filter, submitted again, starts a new subscription.
export function usePublic(filter: Filter, version: number) {
  const rows = useRows();
  const [gap, setGap] = useState<string | null>(null);
  const token = useSession().session?.token ?? null;
  // The rows stay when another account logs in, whose likes are unknown.
  useEffect(() => rows.clearLikes(), [token]);
  const notice = (reason: string) => setGap(noticeOf(gapText(reason)));

  async function removeDeleted() {
    const ids = rows.ids();
    for (let at = 0; at < ids.length; at += MAX_NODES) {
      const some = ids.slice(at, at + MAX_NODES);
      const { nodes } = await read(publicClient, TimelineStillThereDocument, { ids: some });
      const gone = some.filter((_, index) => nodes[index] === null);
      for (const statusId of gone) rows.enqueue({ __typename: 'StatusDeleted', cursor: '', statusId });
    }
  }

  const following = useEvents(`${version} ${JSON.stringify(filter)}`, {
    document: TimelinePublicEventsDocument,
    variables: filter,
    asViewer: false,
    async begin() {
      const { statusEventsSyncCursor } = await read(publicClient, TimelinePublicBeginDocument, {});
      return statusEventsSyncCursor;
    },
    onData: ({ statusEvents }) => rows.enqueue(statusEvents),
    onGap(reason) {
      rows.enqueue({ __typename: 'StreamGap', cursor: '', reason: reason as never });
      notice(reason);
      removeDeleted().catch(() => notice('UNCHECKED'));
    },
  });
  const clear = () => {
    setGap(null);
    rows.replace([]);
  };
  return { ...following, ...rows, gap, clear };
}
