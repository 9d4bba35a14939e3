// Follows what one side may see of both: its home, and the public statuses of the two. Each event causes a read.
import { useClient } from 'urql';
import { read } from '../../api/read.ts';
import { useEvents } from '../../api/useEvents.ts';
import type { Connection } from '../../live/resume.js';
import { TimelineHomeEventsDocument } from '../../timeline/operations/HomeEvents.generated.ts';
import { TimelinePublicEventsDocument } from '../../timeline/operations/PublicEvents.generated.ts';
import { PeopleCursorsDocument } from './operations/Cursors.generated.ts';

export function useSideEvents(logins: string[], onEvent: () => void) {
  const client = useClient();
  const cursors = () => read(client, PeopleCursorsDocument, {});
  // The socket may report the end of the session: the next read does, too.
  const onState = ({ phase }: Connection) => void (phase === 'login' && onEvent());
  const common = { asViewer: true, onData: onEvent, onGap: onEvent, onState };
  const home = useEvents('home', {
    ...common,
    document: TimelineHomeEventsDocument,
    variables: {},
    begin: async () => (await cursors()).homeTimeline?.syncCursor ?? '',
  });
  const open = useEvents(`public ${logins.join(' ')}`, {
    ...common,
    document: TimelinePublicEventsDocument,
    variables: { filter: { follow: logins } },
    begin: async () => (await cursors()).statusEventsSyncCursor,
  });
  const isLive = home.connection.phase === 'live' && open.connection.phase === 'live';
  // The state of the one that is not live.
  return isLive || home.connection.phase !== 'live' ? home : open;
}
