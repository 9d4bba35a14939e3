// The public stream with its filter.
import { useState } from 'react';
import { OwnAccount } from '../../people/OwnAccount.tsx';
import { useViewer } from '../../session/useSession.ts';
import { TimelinePage } from '../../timeline/TimelinePage.tsx';
import { usePublic, type Filter } from '../../timeline/usePublic.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { FilterForm } from './FilterForm.tsx';
import './live.css';

const ALL: Filter = { filter: { sample: { percent: 100 } } };
// Codes of errors that another filter may correct.
const MENDABLE = ['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED'];

export function Component() {
  useTitle('live');
  const [{ filter, version }, setAsked] = useState({ filter: ALL, version: 0 });
  const [changes, setChanges] = useState(0);
  const stream = usePublic(filter, version);
  const viewer = useViewer();
  const { connection } = stream;
  const isMendable = connection.phase === 'refused' && MENDABLE.includes(connection.code ?? '');
  const ask = (filter: Filter) => {
    stream.clear();
    setAsked(({ version }) => ({ filter, version: version + 1 }));
  };
  const shown = { ...stream, connection: isMendable ? { ...connection, message: 'The filter was refused.' } : connection };
  const first = viewer ? 'Write the first post above.' : 'Log in above to write the first post.';
  return (
    <TimelinePage
      title="Public stream"
      aside={
        <aside aria-label="Filter and account">
          <FilterForm onAsk={ask} complaint={isMendable ? connection.message : ''} version={version} />
          <OwnAccount changes={changes} />
        </aside>
      }
      timeline={shown}
      onRelation={() => setChanges((changes) => changes + 1)}
      empty={isMendable ? null : <p>Nothing yet. What is posted from now on shows here. {first}</p>}
    />
  );
}
