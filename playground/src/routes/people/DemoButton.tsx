// Logs in two accounts of the demo data at once.
import { useState } from 'react';
import { openSession } from '../../session/actions.ts';
import { useSettings } from '../../session/useSettings.ts';
import { useBusy } from '../../ui/useBusy.ts';
import type { Sessions } from './sessions.ts';

// The account of the other side. All accounts of the demo data have the same password.
const OTHER_LOGIN = 'bram';

export function DemoButton({ onSessions }: { onSessions: (sessions: Sessions) => void }) {
  const demo = useSettings()?.demo;
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  if (!demo) return null;
  const logIn = async () => {
    const opened = await Promise.all([demo.login, OTHER_LOGIN].map((login) => openSession(login, demo.password)));
    setError(opened.filter((it) => typeof it === 'string').join(' '));
    const [left, right] = opened.map((it) => (typeof it === 'string' ? undefined : it));
    onSessions({ ...(left && { left }), ...(right && { right }) });
  };
  return (
    <>
      <button type="button" className="primary" aria-disabled={busy} onClick={() => void run(logIn)}>
        Log in {demo.login} and {OTHER_LOGIN}
      </button>
      <p className="error" role="alert">
        {error}
      </p>
    </>
  );
}
