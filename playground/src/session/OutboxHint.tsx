// Where messages are in development: the server writes them to files, and the playground lists them.
import { Link } from 'react-router';
import { useSettings } from './useSettings.ts';

export function OutboxHint() {
  return (
    useSettings()?.hasOutbox && (
      <p className="hint">
        This server sends no mail: its messages are in the <Link to="/outbox">outbox</Link>.
      </p>
    )
  );
}
