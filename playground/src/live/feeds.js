// The two timelines of the page: what each asks for, and what it reads anew after a gap.
import { ask } from './ask.js';
import { request } from './operations.js';
import { resume } from './resume.js';

const FIRST = 50;
// The most ids that `nodes` takes.
const NODES = 100;

// One's home: read as a whole, then followed from where the reading ended; after a gap once more.
export function followHome(token, { timeline, onState, onGap }) {
  async function read() {
    const { homeTimeline } = await ask('Home', { first: FIRST });
    timeline.show(homeTimeline.entries.edges.map(({ node }) => node.status));
    return homeTimeline.syncCursor;
  }
  return resume({ ...request('HomeEvents'), token, read, onEvent: (event) => timeline.tell(event), onGap, onState });
}

// The public stream: nothing to read at first, since it has no past, but where it stands. After a gap it is marked in the list, and what is shown is
// looked at once more: some of it may have been deleted unheard.
export function followPublic(asked, { timeline, onState, onGap }) {
  const gap = (reason) => {
    timeline.mark(reason);
    onGap(reason);
    forgetDeleted(timeline).catch(() => onGap('UNCHECKED'));
  };
  const begin = async () => (await ask('PublicBegin')).statusEventsSyncCursor;
  const onEvent = (event) => timeline.tell(event);
  return resume({ ...request('PublicEvents', asked), begin, onEvent, onGap: gap, onState });
}

async function forgetDeleted(timeline) {
  const ids = timeline.ids();
  for (let at = 0; at < ids.length; at += NODES) {
    const some = ids.slice(at, at + NODES);
    const { nodes } = await ask('StillThere', { ids: some });
    some.filter((_, index) => nodes[index] === null).forEach((statusId) => timeline.tell({ __typename: 'StatusDeleted', statusId }));
  }
}
