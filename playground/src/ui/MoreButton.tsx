// Reads the next page of a list.
import { useBusy } from './useBusy.ts';

export function MoreButton({ label, read }: { label: string; read: () => Promise<void> }) {
  const [busy, run] = useBusy();
  return (
    <button type="button" className="more" aria-disabled={busy} onClick={() => void run(read)}>
      {label}
    </button>
  );
}
