// The devices that are logged in. Each but this one can be logged out.
import { useRef, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { isJwt } from '../../session/jwt.ts';
import { useSession } from '../../session/useSession.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { Done } from '../../ui/Done.tsx';
import { Time } from '../../ui/Time.tsx';
import { EndSessionsDocument } from './operations/EndSessions.generated.ts';
import { SessionsDocument, type SessionsQuery } from './operations/Sessions.generated.ts';
import { endedText } from './PasswordSection.tsx';
import { Section } from './Section.tsx';
import { deviceName } from './userAgent.ts';

type Session = NonNullable<SessionsQuery['viewerSessions']>[number];

// Values may be added to the schema.
const METHODS: Partial<Record<string, string>> = { PASSWORD: 'with the password', RESET: 'by a link that reset the password' };

export function Sessions() {
  const [{ data, error }] = useQuery({ query: SessionsDocument, requestPolicy: 'cache-and-network' });
  const [, end] = useMutation(EndSessionsDocument);
  const [message, setMessage] = useState('');
  const [done, setDone] = useState('');
  const heading = useRef<HTMLHeadingElement>(null);
  const token = useSession().session?.token ?? '';
  const sessions = data?.viewerSessions ?? [];
  const send = async (input: { sessionId: string } | { allOthers: true }) => {
    setDone('');
    const { data, error } = await end({ input });
    setMessage(messageOf(errorMessagesOf(error, data?.endSessions)));
    const ended = data?.endSessions?.endedSessionIds;
    if (!ended) return;
    heading.current?.focus({ preventScroll: true });
    setDone('sessionId' in input ? 'The session has ended.' : endedText(ended.length));
  };
  return (
    <Section title="Sessions" heading={heading}>
      {isJwt(token) && <p className="hint">You use an access token of an identity provider. It is no session, so it is not in this list.</p>}
      {data && sessions.length === 0 && <p>You have no sessions.</p>}
      <ul className="sessions" aria-label="Sessions">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} onEnd={() => send({ sessionId: session.id })} />
        ))}
      </ul>
      <Done>{done}</Done>
      <p className="error" role="alert">
        {message || (error && messageOf(errorMessagesOf(error)))}
      </p>
      {sessions.some(({ isCurrent }) => !isCurrent) && (
        <div className="foot">
          <ConfirmButton label="Log out all others" question="Really log out all others?" act={() => send({ allOthers: true })} />
        </div>
      )}
    </Section>
  );
}

function SessionRow({ session: { userAgent, isCurrent, createdAt, lastSeenAt, authenticationMethod }, onEnd }: { session: Session; onEnd: () => Promise<void> }) {
  const device = deviceName(userAgent);
  const method = METHODS[authenticationMethod];
  return (
    <li>
      <div>
        <strong title={userAgent ?? undefined}>{device}</strong> {isCurrent && <span className="mark">This session</span>}
        <p className="hint">
          Logged in <Time at={createdAt} />
          {method && ` ${method}`}, used <Time at={lastSeenAt} />
        </p>
      </div>
      {!isCurrent && <ConfirmButton label="Log out" question="Really log out?" subject={device} act={onEnd} />}
    </li>
  );
}
