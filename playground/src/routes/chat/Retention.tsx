// When the messages of a chat are deleted: the number of days, and for those who may change it a form.
import { useEffect, useId, useState } from 'react';
import { useClient } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import { Form, TextField } from '../../ui/Form.tsx';
import type { ChatCard } from './lists.ts';
import { ChatRetentionDocument } from './operations/ChatRetention.generated.ts';
import { ChatSetRetentionDocument } from './operations/ChatSetRetention.generated.ts';
import { retentionText } from './texts.ts';
import { useChatChange } from './useChats.ts';

export function Retention({ chat: { id, kind, viewerMember } }: { chat: ChatCard }) {
  const client = useClient();
  // Undefined before the first read; null if messages are kept.
  const [days, setDays] = useState<number | null>();
  const [error, setError] = useState('');
  const refresh = () =>
    read(client, ChatRetentionDocument, { id }).then(
      ({ node }) => void (node?.__typename === 'Chat' && setDays(node.daysAfterSeen)),
      (errors: ErrorMessage[]) => setError(messageOf(errors)),
    );
  useEffect(() => void refresh(), [client, id]);
  useChatChange(({ __typename }) => void (__typename === 'StreamGap' && refresh()));
  const canChange = kind === 'DIRECT' || viewerMember?.role === 'OWNER';
  return (
    <section className="retention" aria-label="Retention">
      <p role="status">
        {days !== undefined && retentionText(days)}
        {days !== undefined && !canChange && ' Only the owner of the group can change this.'}
      </p>
      {days !== undefined && canChange && <RetentionForm key={days} chatId={id} days={days} onSet={setDays} />}
      <p className="error" role="alert">
        {error}
      </p>
    </section>
  );
}

function RetentionForm({ chatId, days, onSet }: { chatId: string; days: number | null; onSet: (days: number | null) => void }) {
  const client = useClient();
  const hint = useId();
  const set = async (fields: FormData): Promise<ErrorMessage[]> => {
    const text = String(fields.get('daysAfterSeen'));
    const input = { chatId, daysAfterSeen: text === '' ? null : Number(text) };
    const { data, error } = await client.mutation(ChatSetRetentionDocument, { input }).toPromise();
    if (data?.result?.chat) onSet(data.result.chat.daysAfterSeen);
    return errorMessagesOf(error, data?.result);
  };
  return (
    <Form label="Delete messages" className="one-line" act={set} button={(busy) => <button aria-disabled={busy}>Set</button>}>
      <TextField label="Days after all have seen them" name="daysAfterSeen" type="number" step="1" defaultValue={days ?? ''} hint={hint} />
      <p className="hint" id={hint}>
        0 to 365. Empty: as the server is configured.
      </p>
    </Form>
  );
}
