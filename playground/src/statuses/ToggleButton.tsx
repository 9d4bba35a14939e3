// A button that is on or off: a like, a repost, a bookmark. Disabled without a session.
import { useViewer } from '../session/useSession.ts';

interface Props {
  className: string;
  label: string;
  // Off and on.
  icons: [string, string];
  isOn: boolean;
  // Shown in place of the label.
  count?: string;
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
      <span aria-hidden="true">{isOn ? on : off}</span> {count ? <span className="visually-hidden">{label}:</span> : label} {count}
    </button>
  );
}
