// A list that is read in pages. Each page is its own query, so that the cache updates all of them.
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useQuery, type TypedDocumentNode } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';

const FIRST = 50;

export interface Connection<Node> {
  edges: readonly { node: Node }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

interface Props<Data, Node> {
  document: TypedDocumentNode<Data, { first: number; after?: string | null }>;
  connection: (data: Data) => Connection<Node> | null;
  item: (node: Node) => ReactNode;
  // The label of the button that reads the next page.
  more: string;
  empty: ReactNode;
  // The list is read again when this changes.
  version?: unknown;
}

export function Pages<Data, Node>(props: Props<Data, Node>) {
  const [cursors, setCursors] = useState<(string | null)[]>([null]);
  return (
    <>
      {cursors.map((after, at) => (
        <Page key={after} {...props} after={after} isLast={at === cursors.length - 1} onMore={(cursor) => setCursors([...cursors, cursor])} />
      ))}
    </>
  );
}

interface PageProps<Data, Node> extends Props<Data, Node> {
  after: string | null;
  isLast: boolean;
  onMore: (cursor: string) => void;
}

function Page<Data, Node>({ document, connection, item, more, empty, version, after, isLast, onMore }: PageProps<Data, Node>) {
  const [{ data, error }, readAgain] = useQuery({ query: document, variables: { first: FIRST, after }, requestPolicy: 'cache-and-network' });
  const read = useRef(version);
  useEffect(() => {
    if (read.current !== version) readAgain({ requestPolicy: 'network-only' });
    read.current = version;
  }, [version]);
  const page = data && connection(data);
  const { hasNextPage, endCursor } = page?.pageInfo ?? { hasNextPage: false, endCursor: null };
  return (
    <>
      {error && (
        <p className="error" role="alert">
          {messageOf(errorMessagesOf(error))}
        </p>
      )}
      {page && <ul className="list">{page.edges.map(({ node }) => item(node))}</ul>}
      {page?.edges.length === 0 && after === null && <p className="hint">{empty}</p>}
      {isLast && hasNextPage && endCursor && (
        <button type="button" onClick={() => onMore(endCursor)}>
          {more}
        </button>
      )}
    </>
  );
}
