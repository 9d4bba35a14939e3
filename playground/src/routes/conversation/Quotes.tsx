// The statuses that quote a status.
import { read } from '../../api/read.ts';
import { pageOf, usePages } from '../../api/usePages.ts';
import { useViewer } from '../../session/useSession.ts';
import { StatusList, type StatusItem } from '../../timeline/StatusList.tsx';
import { ConversationQuotesDocument } from './operations/Quotes.generated.ts';

const FIRST = 20;

// `version` counts the quotes that were posted on this page: each causes a read.
export function Quotes({ id, version }: { id: string; version: number }) {
  const viewer = useViewer();
  const pages = usePages<StatusItem>(`${id} ${version}`, async (client, after) => {
    const { node } = await read(client, ConversationQuotesDocument, { id, first: FIRST, after });
    return pageOf(node?.__typename === 'Status' ? node.quotes : null, ({ node }) => ({ key: node.id, status: node }));
  });
  return <StatusList label="Quotes" pages={pages} empty={<p>No quotes yet. {viewer ? 'Press Quote below the status to write the first one.' : 'Log in above to write the first one.'}</p>} />;
}
