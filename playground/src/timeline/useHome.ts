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
    readFirst: async (client) => (await read(client, TimelineHomeDocument, { first: FIRST })).homeTimeline,
    eventOf: ({ homeTimelineEvents }) => homeTimelineEvents,
  });
}
