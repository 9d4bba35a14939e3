// An account: its counts, its relation to the viewer, and the actions of the viewer.
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { useViewer } from '../session/useSession.ts';
import { ConfirmButton } from '../ui/ConfirmButton.tsx';
import { useBusy } from '../ui/useBusy.ts';
import { ACTIONS, actionsOf, relationTexts, type ActionName, type PersonAction } from './actions.ts';
import type { PersonRelationsFragment } from './fragments/PersonRelations.generated.ts';
import { PrivateSwitch } from './PrivateSwitch.tsx';
import { usePersonAction } from './usePersonAction.ts';
import './people.css';

const NUMBER = new Intl.NumberFormat();

interface Props {
  person: PersonRelationsFragment;
  onClose?: () => void;
  // Shown before the actions.
  children?: ReactNode;
}

export function PersonCard({ person, onClose, children }: Props) {
  const viewer = useViewer();
  const title = useId();
  const [error, setError] = useState('');
  const [card, act] = useFocusAfterAction(person);
  const isOwn = viewer?.id === person.id;
  const relations = relationTexts(person);
  return (
    <section className="person" aria-labelledby={title} ref={card} tabIndex={-1}>
      <div className="person-head">
        <h3 id={title}>
          <Link to={`/profile/${person.login}`}>
            <span dir="auto">{person.name}</span> <span className="login">@{person.login}</span>
          </Link>
        </h3>
        {person.isPrivate && <span className="mark">Private</span>}
        {onClose && (
          <button type="button" className="quiet" onClick={onClose}>
            Close
          </button>
        )}
      </div>
      <Counts person={person} />
      {relations.length > 0 && (
        <ul className="relations" aria-label="Relation">
          {relations.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {children}
      {isOwn && <PrivateSwitch isPrivate={person.isPrivate} />}
      {viewer && !isOwn && <Actions person={person} onError={setError} onAct={act} />}
      {!viewer && <p className="hint">Log in to follow, befriend, mute or block.</p>}
      <p className="error" role="alert">
        {error}
      </p>
    </section>
  );
}

function Counts({ person }: { person: PersonRelationsFragment }) {
  const counts: [number, string, string][] = [
    [person.followersCount, 'follower', 'followers'],
    [person.followingCount, 'following', 'following'],
    [person.friendsCount, 'friend', 'friends'],
  ];
  return (
    <ul className="counts" aria-label="Counts">
      {counts.map(([count, one, many]) => (
        <li key={many}>
          <strong>{NUMBER.format(count)}</strong> {count === 1 ? one : many}
        </li>
      ))}
    </ul>
  );
}

interface ActionsProps {
  person: PersonRelationsFragment;
  onError: (message: string) => void;
  onAct: () => void;
}

function Actions({ person, onError, onAct }: ActionsProps) {
  const send = usePersonAction();
  const [busy, run] = useBusy();
  const act = async (name: ActionName) => {
    onAct();
    onError(await send(name, person.id));
  };
  return (
    <div className="actions">
      {actionsOf(person).map((name) => {
        const { label, question }: PersonAction = ACTIONS[name];
        if (question) return <ConfirmButton key={name} label={label} question={question} act={() => run(() => act(name))} />;
        return (
          <button key={name} type="button" aria-disabled={busy} onClick={() => void run(() => act(name))}>
            {label}
          </button>
        );
      })}
    </div>
  );
}

// An action replaces its button by the opposite one: the card takes the focus of the removed button.
function useFocusAfterAction(person: PersonRelationsFragment) {
  const card = useRef<HTMLElement>(null);
  const hasActed = useRef(false);
  useEffect(() => {
    if (hasActed.current && document.activeElement === document.body) card.current?.focus({ preventScroll: true });
    hasActed.current = false;
  }, [person]);
  return [card, () => void (hasActed.current = true)] as const;
}
