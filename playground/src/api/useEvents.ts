// A subscription as React's components see it: its events go to `onData`, and it says how its connection is.
import { useEffect, useRef, useState } from 'react';
import { useClient, type AnyVariables, type TypedDocumentNode } from 'urql';
import type { Connection, Resumed } from '../live/resume.js';
import type { ResumeContext } from './follow.ts';

export interface Follow<Data, Variables extends AnyVariables> extends Pick<ResumeContext, 'read' | 'begin' | 'onGap' | 'asViewer'> {
  document: TypedDocumentNode<Data, Variables>;
  // `after` is the business of `resume.js`.
  variables: Variables;
  onData: (data: Data) => void;
  onState?: (connection: Connection) => void;
}

export interface Following {
  connection: Connection;
  // Tries now rather than later, and again what was refused.
  again: () => void;
}

// Starts again whenever `key` changes; null follows nothing.
export function useEvents<Data, Variables extends AnyVariables>(key: string | null, follow: Follow<Data, Variables>): Following {
  const client = useClient();
  const [connection, setConnection] = useState<Connection>({ phase: 'connecting' });
  const [attempt, setAttempt] = useState(0);
  const running = useRef<Resumed | null>(null);
  const latest = useRef(follow);
  latest.current = follow;

  useEffect(() => {
    if (key === null) return;
    // What comes after the end is of no interest, whatever is still on its way.
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
    // A public stream does not depend on who is logged in.
  }, [follow.asViewer === false ? null : client, key, attempt]);

  const again = () => {
    if (connection.phase === 'waiting') running.current?.now();
    else setAttempt((attempt) => attempt + 1);
  };
  return { connection, again };
}
