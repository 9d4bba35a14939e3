// The two timelines of the page: what each asks for, and what it reads anew after a gap.
import { ask } from './ask.js';
import { resume } from './resume.js';
import HOME from './operations/Home.graphql?raw';
import HOME_EVENTS from './operations/HomeEvents.graphql?raw';
import PUBLIC_BEGIN from './operations/PublicBegin.graphql?raw';
import PUBLIC_EVENTS from './operations/PublicEvents.graphql?raw';
import STILL_THERE from './operations/StillThere.graphql?raw';

const FIRST = 50;
// The most ids that `nodes` takes.
const NODES = 100;

// One's home: read as a whole, then followed from where the reading ended; after a gap once more.
export function followHome(token, { timeline, onState, onGap }) {
  async function read() {
    const { homeTimeline } = await ask('LiveHome', HOME, { first: FIRST });
    timeline.show(homeTimeline.entries.edges.map(({ node }) => node.status));
    return homeTimeline.syncCursor;
  }
  return resume({ query: HOME_EVENTS, token, read, onEvent: (event) => timeline.tell(event), onGap, onState });
}

// The public stream: nothing to read at first, since it has no past, but where it stands. After a gap it is marked in the list, and what is shown is
// looked at once more: some of it may have been deleted unheard.
export function followPublic(asked, { timeline, onState, onGap }) {
  const gap = (reason) => {
    timeline.mark(reason);
    onGap(reason);
    forgetDeleted(timeline).catch(() => onGap('UNCHECKED'));
  };
  const begin = async () => (await ask('LivePublicBegin', PUBLIC_BEGIN)).statusEventsSyncCursor;
  const onEvent = (event) => timeline.tell(event);
  return resume({ query: PUBLIC_EVENTS, variables: asked, begin, onEvent, onGap: gap, onState });
}

async function forgetDeleted(timeline) {
  const ids = timeline.ids();
  for (let at = 0; at < ids.length; at += NODES) {
    const some = ids.slice(at, at + NODES);
    const { nodes } = await ask('LiveStillThere', STILL_THERE, { ids: some });
    some.filter((_, index) => nodes[index] === null).forEach((statusId) => timeline.tell({ __typename: 'StatusDeleted', statusId }));
  }
}
