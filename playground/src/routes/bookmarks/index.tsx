// The viewer's bookmarks. A bookmark that is removed here stays on the page, so that it can be set again.
import { Link } from 'react-router';
import { read } from '../../api/read.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import { LogInHint } from '../../session/LogInHint.tsx';
import { useViewer } from '../../session/useSession.ts';
import { StatusList, type StatusItem } from '../../timeline/StatusList.tsx';
import { useTitle } from '../../ui/useTitle.ts';
import { BookmarksDocument } from './operations/Bookmarks.generated.ts';

const FIRST = 20;

export function Component() {
  useTitle('bookmarks');
  const viewer = useViewer();
  return (
    <main className="columns timelines no-aside">
      <h1 className="visually-hidden">Bookmarks</h1>
      {viewer ? (
        <Bookmarks key={viewer.id} />
      ) : (
        <div className="stream">
          <div className="empty">
            <p>
              <LogInHint to="see your bookmarks" />
            </p>
          </div>
        </div>
      )}
    </main>
  );
}

function Bookmarks() {
  const pages = usePages<StatusItem>('bookmarks', async (client, after) => {
    const { viewerBookmarks } = await read(client, BookmarksDocument, { first: FIRST, after });
    return pageOf(viewerBookmarks, ({ node }) => ({ key: node.id, status: node }));
  });
  const empty = (
    <p>
      No bookmarks yet. Press ☆ Bookmark below a status at <Link to="/home">Home</Link> or <Link to="/live">Live</Link>: it is kept here, for you alone.
    </p>
  );
  return <StatusList label="Bookmarks" pages={pages} empty={empty} />;
}
