// The votes on a comment. Pressing one's own vote again removes it.
import type { CommentVote } from '../api/schema.generated.ts';
import { useViewer } from '../session/useSession.ts';
import { useBusy } from '../ui/useBusy.ts';
import type { ThreadCommentFragment } from './fragments/ThreadComment.generated.ts';

const NUMBER = new Intl.NumberFormat();
const BUTTONS = [
  { vote: 'UP', label: 'Vote up', sign: '▲' },
  { vote: 'DOWN', label: 'Vote down', sign: '▼' },
] as const;

interface Props {
  comment: ThreadCommentFragment;
  onVote: (vote: CommentVote) => Promise<void>;
}

export function Votes({ comment: { score, viewerVote }, onVote }: Props) {
  const viewer = useViewer();
  const [busy, run] = useBusy();
  const [up, down] = BUTTONS.map(({ vote, label, sign }) => (
    <button
      key={vote}
      type="button"
      className="quiet"
      aria-label={label}
      aria-pressed={viewerVote === vote}
      disabled={!viewer}
      aria-disabled={busy}
      onClick={() => void run(() => onVote(viewerVote === vote ? 'NONE' : vote))}
    >
      {sign}
    </button>
  ));
  return (
    <span className="votes">
      {up}
      <span className="score">{NUMBER.format(score)}</span>
      {down}
    </span>
  );
}
