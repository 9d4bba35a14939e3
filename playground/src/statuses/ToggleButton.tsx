// A button with a count that is on or off: a like, a repost. Disabled without a session.
import { useViewer } from '../session/useSession.ts';

interface Props {
  className: string;
  label: string;
  // Off and on.
  icons: [string, string];
  isOn: boolean;
  count: string;
  // The hint without a session.
  title: string;
  busy: boolean;
  onPress: () => void;
}

export function ToggleButton({ className, label, icons: [off, on], isOn, count, title, busy, onPress }: Props) {
  const viewer = useViewer();
  return (
    <button
      type="button"
      className={`toggle ${className} quiet`}
      aria-pressed={isOn}
      title={viewer ? undefined : title}
      disabled={!viewer}
      aria-disabled={busy}
      onClick={onPress}
    >
      <span aria-hidden="true">{isOn ? on : off}</span> <span className="visually-hidden">{label}:</span> {count}
    </button>
  );
}
