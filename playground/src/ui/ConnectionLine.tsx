// Shows the state of a connection (live, reconnecting in some seconds, or refused with the reason), and below it the notice of a gap.
import { useEffect, useState } from 'react';
import type { Connection } from '../live/resume.js';

const TICK_MS = 250;
const TEXTS: Record<string, string> = {
  connecting: 'Connecting …',
  live: 'Live',
  waiting: 'Reconnecting',
  login: 'Your session has ended. Log in again to continue.',
};

interface Props {
  connection: Connection | { phase: 'gone'; message: string };
  gap: string | null;
  onReconnect: () => void;
}

export function ConnectionLine({ connection, gap, onReconnect }: Props) {
  const { phase } = connection;
  const canRetry = phase === 'waiting' || phase === 'refused';
  return (
    <div className="connection" data-phase={phase}>
      <p className="line">
        <span role="status">{'message' in connection ? connection.message : TEXTS[phase]}</span>
        {phase === 'waiting' && <Countdown key={connection.seconds} seconds={connection.seconds} />}
        {canRetry && (
          <button type="button" className="quiet" onClick={onReconnect}>
            {phase === 'refused' ? 'Try again' : 'Now'}
          </button>
        )}
      </p>
      <p className="notice" role="status" hidden={!gap}>
        {gap}
      </p>
    </div>
  );
}

// Outside of the live region: a screen reader must not read each second.
function Countdown({ seconds }: { seconds: number }) {
  const [end] = useState(() => performance.now() + seconds * 1_000);
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft((end - performance.now()) / 1_000), TICK_MS);
    return () => clearInterval(timer);
  }, [end]);
  return <span className="countdown">in {Math.max(0, Math.ceil(left))} s</span>;
}
