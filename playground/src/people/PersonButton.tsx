// The name of an author: a button that opens the card of the account below it. Escape closes the card.
import { useRef, useState } from 'react';
import { useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../api/errorMessages.ts';
import { onEscape, usePageEscape } from '../ui/onEscape.ts';
import { PersonDocument } from './operations/Person.generated.ts';
import { PersonCard } from './PersonCard.tsx';
import { PinnedLinks } from './PinnedLinks.tsx';
import './people.css';

export function PersonButton({ person: { login, name } }: { person: { login: string; name: string } }) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  return (
    <div className="who" onKeyDown={isOpen ? onEscape(close) : undefined}>
      <button ref={button} type="button" className="name quiet" dir="auto" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {name}
      </button>
      {isOpen && <OpenCard login={login} onClose={close} />}
    </div>
  );
}

function OpenCard({ login, onClose }: { login: string; onClose: () => void }) {
  usePageEscape(onClose);
  const [{ data, error, fetching }] = useQuery({ query: PersonDocument, variables: { login }, requestPolicy: 'cache-and-network' });
  if (data?.user) {
    return (
      <div className="person-panel">
        <PersonCard person={data.user} onClose={onClose}>
          <PinnedLinks person={data.user} />
        </PersonCard>
      </div>
    );
  }
  const text = error ? messageOf(errorMessagesOf(error)) : fetching ? 'Loading …' : `There is no account @${login} for you.`;
  return (
    <p className="person-panel hint" role="status">
      {text}
    </p>
  );
}
