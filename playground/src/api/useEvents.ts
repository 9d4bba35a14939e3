// A hook for subscriptions: passes events to `onData` and returns the state of the connection.
import { useEffect, useRef, useState } from 'react';
import { useClient, type AnyVariables, type TypedDocumentNode } from 'urql';
import type { Connection, Resumed } from '../live/resume.js';
import { publicClient } from './client.ts';
import type { ResumeContext } from './follow.ts';

export interface Follow<Data, Variables extends AnyVariables> extends Pick<ResumeContext, 'read' | 'begin' | 'onGap' | 'asViewer'> {
  document: TypedDocumentNode<Data, Variables>;
  // Without `after`, which `resume.js` sets.
  variables: Variables;
  onData: (data: Data) => void;
  onState?: (connection: Connection) => void;
}

export interface Following {
  connection: Connection;
  // Reconnects at once, also after a refusal.
  reconnect: () => void;
}

// Subscribes again when `key` changes. Null means no subscription. With `asViewer: false` the subscription does not depend on the session.
export function useEvents<Data, Variables extends AnyVariables>(key: string | null, follow: Follow<Data, Variables>): Following {
  const viewerClient = useClient();
  const client = follow.asViewer === false ? publicClient : viewerClient;
  const [connection, setConnection] = useState<Connection>({ phase: 'connecting' });
  const [attempt, setAttempt] = useState(0);
  const running = useRef<Resumed | null>(null);
  const latest = useRef(follow);
  latest.current = follow;

  useEffect(() => {
    if (key === null) return;
    // Events and states that arrive after the unsubscribe are ignored.
    let isOver = false;
    const { document, variables, read, begin, asViewer } = latest.current;
    const onState = (state: Connection) => {
      if (isOver) return;
      setConnection(state);
      latest.current.onState?.(state);
    };
    const resume: ResumeContext = {
      asViewer,
      ...(read && { read }),
      ...(begin && { begin }),
      onGap: (reason) => isOver || latest.current.onGap(reason),
      onState,
      onStart: (resumed) => (running.current = resumed),
    };
    const { unsubscribe } = client.subscription(document, variables, { resume }).subscribe(({ data }) => {
      if (data && !isOver) latest.current.onData(data);
    });
    return () => {
      isOver = true;
      unsubscribe();
    };
  }, [client, key, attempt]);

  const reconnect = () => {
    if (connection.phase === 'waiting') running.current?.reconnect();
    else setAttempt((attempt) => attempt + 1);
  };
  return { connection, reconnect };
}
