// A list that is read a page at a time, outside of the cache. No item is in the list twice: an item of a new page replaces an earlier one with its key.
import { useEffect, useRef, useState } from 'react';
import { useClient, type Client } from 'urql';
import { messageOf, type ErrorMessage } from './errorMessages.ts';

export interface Page<Item> {
  items: Item[];
  // The cursor of the next page; null at the end.
  next: string | null;
}

type ReadPage<Item> = (client: Client, after: string | null) => Promise<Page<Item>>;

interface State<Item> {
  // Null until the first page has been read.
  items: Item[] | null;
  next: string | null;
  error: string;
  // Changes that were made during a read of the first page, whose result may lack them.
  waiting: Change<Item>[];
}

// A change of the items that have been read. It must be idempotent: the response of a read may contain the change already.
type Change<Item> = (items: Item[], hasMore: boolean) => Item[];

const EMPTY = { items: null, next: null, error: '', waiting: [] };

// The list begins again when `key` changes. Null means no list.
export function usePages<Item extends { key: string }>(key: string | null, readPage: ReadPage<Item>) {
  const client = useClient();
  const [state, setState] = useState<State<Item>>(EMPTY);
  // Counts the reads of first pages: the result of a read is ignored if the list has begun again since.
  const reading = useRef(0);
  const readsFirst = useRef(false);
  const latest = useRef(readPage);
  latest.current = readPage;

  const read = async (after: string | null) => {
    const current = after === null ? ++reading.current : reading.current;
    if (after === null) readsFirst.current = true;
    try {
      const page = await latest.current(client, after);
      if (current !== reading.current) return;
      if (after === null) readsFirst.current = false;
      const keys = new Set(page.items.map((item) => item.key));
      const before = (items: Item[] | null) => (after === null ? [] : (items ?? []).filter((item) => !keys.has(item.key)));
      setState(({ items, waiting }) => {
        const all = waiting.reduce((items, act) => act(items, page.next !== null), [...before(items), ...page.items]);
        return { items: all, next: page.next, error: '', waiting: after === null ? [] : waiting };
      });
    } catch (errors) {
      if (current !== reading.current) return;
      if (after === null) readsFirst.current = false;
      setState((state) => ({ ...state, error: messageOf(errors as ErrorMessage[]), waiting: state.items ? [] : state.waiting }));
    }
  };
  useEffect(() => {
    reading.current++;
    setState(EMPTY);
    if (key !== null) void read(null);
  }, [client, key]);

  const { items, next, error } = state;
  return {
    items,
    next,
    error,
    readNextPage: () => read(state.next),
    // Reads the first page again.
    readAgain: () => read(null),
    change: (act: Change<Item>) =>
      setState((state) => ({
        ...state,
        items: state.items && act(state.items, state.next !== null),
        waiting: state.items && !readsFirst.current ? state.waiting : [...state.waiting, act],
      })),
  };
}

export type Pages<Item extends { key: string }> = ReturnType<typeof usePages<Item>>;

// A connection, as a page of its edges.
export function pageOf<Edge, Item>(
  connection: { edges: readonly Edge[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } } | null | undefined,
  itemOf: (edge: Edge) => Item,
): Page<Item> {
  if (!connection) return { items: [], next: null };
  const { edges, pageInfo } = connection;
  return { items: edges.map(itemOf), next: pageInfo.hasNextPage ? pageInfo.endCursor : null };
}
