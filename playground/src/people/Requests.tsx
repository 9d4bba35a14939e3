// The follow and friend requests that wait for the viewer's answer.
import { useId, useRef, useState } from 'react';
import { Time } from '../ui/Time.tsx';
import { useBusy } from '../ui/useBusy.ts';
import type { ActionName } from './actions.ts';
import type { PersonFriendRequestsFragment } from './fragments/PersonFriendRequests.generated.ts';
import type { PersonRequestsFragment } from './fragments/PersonRequests.generated.ts';
import { PersonButton } from './PersonButton.tsx';
import { usePersonAction } from './usePersonAction.ts';

type Request = PersonRequestsFragment['edges'][number];

interface Props {
  follows: PersonRequestsFragment | null;
  friends: PersonFriendRequestsFragment | null;
}

const KINDS = {
  follow: { text: 'asks to follow you', name: 'follow request', accept: 'acceptFollow', reject: 'rejectFollow' },
  friend: { text: 'sent you a friend request', name: 'friend request', accept: 'acceptFriend', reject: 'rejectFriend' },
} as const;
type Kind = keyof typeof KINDS;

export function Requests({ follows, friends }: Props) {
  const title = useId();
  const heading = useRef<HTMLHeadingElement>(null);
  const rows = [
    ...(friends?.edges ?? []).map((request) => ({ kind: 'friend' as const, request })),
    ...(follows?.edges ?? []).map((request) => ({ kind: 'follow' as const, request })),
  ];
  const more = (follows?.totalCount ?? 0) + (friends?.totalCount ?? 0) - rows.length;
  return (
    <section className="requests" aria-labelledby={title}>
      <h3 id={title} ref={heading} tabIndex={-1}>
        Requests
      </h3>
      {rows.length === 0 && <p className="hint">Nobody waits for your answer. Requests to follow you and friend requests show here.</p>}
      <ul>
        {rows.map(({ kind, request }) => (
          <RequestRow key={`${kind} ${request.node.id}`} kind={kind} request={request} onAnswered={() => heading.current?.focus({ preventScroll: true })} />
        ))}
      </ul>
      {more > 0 && <p className="hint">{more} more wait: answer these first.</p>}
    </section>
  );
}

function RequestRow({ kind, request: { node, requestedAt }, onAnswered }: { kind: Kind; request: Request; onAnswered: () => void }) {
  const send = usePersonAction();
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const { text, name, accept, reject } = KINDS[kind];
  const answer = async (action: ActionName) => {
    const message = await send(action, node.id);
    setError(message);
    if (!message) onAnswered();
  };
  const button = (label: string, action: ActionName, className?: string) => (
    <button
      type="button"
      className={className}
      aria-label={`${label} ${name} of ${node.name}`}
      aria-disabled={busy}
      onClick={() => void run(() => answer(action))}
    >
      {label}
    </button>
  );
  return (
    <li className="request">
      <div className="request-who">
        <PersonButton person={node} /> <span>{text}</span> <Time at={requestedAt} />
      </div>
      <div className="actions">
        {button('Accept', accept, 'primary')}
        {button('Reject', reject)}
      </div>
      <p className="error" role="alert">
        {error}
      </p>
    </li>
  );
}
