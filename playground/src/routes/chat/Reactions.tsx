// The reactions to a text, and a picker of a few emoji. Pressing one's own reaction removes it.
import { useRef, useState } from 'react';
import { onEscape } from '../../ui/onEscape.ts';
import { useBusy } from '../../ui/useBusy.ts';
import type { ChatReactionFragment } from './fragments/ChatReaction.generated.ts';

const CHOICE = ['👍', '❤️', '😂', '🎉', '😮', '😢'];

interface Props {
  reactions: readonly ChatReactionFragment[];
  toggle: (emoji: string, isOn: boolean) => Promise<void>;
}

export function Reactions({ reactions, toggle, canReact }: Props & { canReact: boolean }) {
  const [busy, run] = useBusy();
  if (reactions.length === 0) return null;
  return (
    <div className="reactions" role="group" aria-label="Reactions">
      {reactions.map(({ emoji, count, viewerHasReacted }) => (
        <button
          key={emoji}
          type="button"
          aria-pressed={viewerHasReacted}
          disabled={!canReact}
          aria-disabled={busy}
          onClick={() => void run(() => toggle(emoji, !viewerHasReacted))}
        >
          {emoji} <span className="reaction-count">{count}</span>
        </button>
      ))}
    </div>
  );
}

export function ReactionPicker({ reactions, toggle }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const [busy, run] = useBusy();
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  const choose = async (emoji: string) => {
    close();
    await toggle(emoji, !reactions.some((it) => it.emoji === emoji && it.viewerHasReacted));
  };
  return (
    <span className="picker" onKeyDown={isOpen ? onEscape(close) : undefined} onBlur={({ currentTarget, relatedTarget }) => currentTarget.contains(relatedTarget) || setIsOpen(false)}>
      <button ref={button} type="button" className="quiet" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        React
      </button>
      {isOpen && (
        <span className="emoji" role="group" aria-label="Emoji">
          {CHOICE.map((emoji) => (
            <button key={emoji} type="button" aria-disabled={busy} onClick={() => void run(() => choose(emoji))}>
              {emoji}
            </button>
          ))}
        </span>
      )}
    </span>
  );
}
