// The viewer's home.
import { read } from '../api/read.ts';
import { useSession } from '../session/useSession.ts';
import { TimelineHomeDocument } from './operations/Home.generated.ts';
import { TimelineHomeEventsDocument } from './operations/HomeEvents.generated.ts';
import { useFeed } from './useFeed.ts';

const FIRST = 25;

export function useHome() {
  const token = useSession().session?.token ?? null;
  return useFeed(token, {
    document: TimelineHomeEventsDocument,
    variables: {},
    readPage: async (client, after) => (await read(client, TimelineHomeDocument, { first: FIRST, after })).homeTimeline,
    eventOf: ({ homeTimelineEvents }) => homeTimelineEvents,
  });
}
