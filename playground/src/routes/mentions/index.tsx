// The statuses of other accounts that mention the viewer, with live events.
import { read } from '../../api/read.ts';
import { LogInHint } from '../../session/LogInHint.tsx';
import { useSession, useViewer } from '../../session/useSession.ts';
import { TimelinePage } from '../../timeline/TimelinePage.tsx';
import { useFeed } from '../../timeline/useFeed.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { MentionEventsDocument } from './operations/MentionEvents.generated.ts';
import { MentionsDocument } from './operations/Mentions.generated.ts';

const FIRST = 25;

export function Component() {
  useTitle('mentions');
  const mentions = useMentions();
  const viewer = useViewer();
  const isReading = viewer && mentions.connection.phase === 'connecting';
  const empty = <p>{viewer ? `Nobody has mentioned you yet. Others mention you with @${viewer.login} in a post.` : <LogInHint to="see who mentions you" />}</p>;
  return <TimelinePage title="Mentions" timeline={mentions} onRelation={mentions.reconnect} hasSubscription={Boolean(viewer)} empty={isReading ? null : empty} />;
}

function useMentions() {
  const token = useSession().session?.token ?? null;
  const viewer = useViewer();
  return useFeed(token && `mentions ${token}`, {
    document: MentionEventsDocument,
    variables: {},
    readPage: async (client, after) => (await read(client, MentionsDocument, { first: FIRST, after })).viewerMentions,
    eventOf: ({ viewerMentionEvents }) => viewerMentionEvents,
    belongs: ({ author, entities }) => author.id !== viewer?.id && entities.mentions.some(({ user }) => user.id === viewer?.id),
  });
}
