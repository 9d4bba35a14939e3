// A tag: its public statuses, with live events, and a button to follow it.
import { useParams } from 'react-router';
import { useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import { useViewer } from '../../session/useSession.ts';
import type { StatusCardFragment } from '../../statuses/fragments/StatusCard.generated.ts';
import { countText } from '../../statuses/StatusActions.tsx';
import type { TagCardFragment } from '../../tags/fragments/TagCard.generated.ts';
import { FollowTagButton } from '../../tags/FollowTagButton.tsx';
import { TimelinePage } from '../../timeline/TimelinePage.tsx';
import { useFeed } from '../../timeline/useFeed.ts';
import { Loading } from '../../ui/Loading.tsx';
import { useTitle } from '../../ui/useTitle.ts';
import { TagDocument } from './operations/Tag.generated.ts';
import { TagEventsDocument } from './operations/TagEvents.generated.ts';
import { TagTimelineDocument } from './operations/TagTimeline.generated.ts';
import './tag.css';

const FIRST = 25;

export function Component() {
  const { name = '' } = useParams();
  useTitle(`tag ${name}`);
  const [{ data, error, fetching }] = useQuery({ query: TagDocument, variables: { name }, requestPolicy: 'cache-and-network' });
  if (data?.tag) return <Tag key={data.tag.id} tag={data.tag} />;
  if (fetching) return <Loading />;
  return <p role="status">{error ? messageOf(errorMessagesOf(error)) : `#${name} cannot be a tag.`}</p>;
}

function Tag({ tag }: { tag: TagCardFragment }) {
  const { name, statusesCount } = tag;
  const stream = useTag(name);
  const viewer = useViewer();
  const head = (
    <header className="tag-head">
      <h1 dir="auto">#{name}</h1>
      <span className="total">{countText(statusesCount, 'post', 'posts')}</span>
      <FollowTagButton tag={tag} />
    </header>
  );
  const action = viewer ? `Write the first post with #${name} above.` : `Log in above to write the first post with #${name}.`;
  const isReading = stream.connection.phase === 'connecting';
  return <TimelinePage title={`#${name}`} head={head} timeline={stream} onRelation={stream.reconnect} empty={isReading ? null : <p>Nothing yet. {action}</p>} />;
}

function useTag(name: string) {
  return useFeed(`tag ${name}`, {
    document: TagEventsDocument,
    variables: { name },
    readPage: async (client, after) => (await read(client, TagTimelineDocument, { name, first: FIRST, after })).tag?.timeline ?? null,
    eventOf: ({ tagTimelineEvents }) => tagTimelineEvents,
    belongs: ({ audience, entities }: StatusCardFragment) => audience === 'PUBLIC' && entities.tags.some(({ tag }) => tag.name === name),
  });
}
