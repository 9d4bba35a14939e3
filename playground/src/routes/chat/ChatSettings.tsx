// The viewer's settings for all chats: who may write to the viewer, and read receipts.
import { useEffect, useId, useRef, useState } from 'react';
import { useClient } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { read } from '../../api/read.ts';
import type { WhoMayWrite } from '../../api/schema.generated.ts';
import { ChoiceField, Field, Form } from '../../ui/Form.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { onEscape, usePageEscape } from '../../ui/onEscape.ts';
import { ChatSettingsDocument, type ChatSettingsQuery } from './operations/ChatSettings.generated.ts';
import { ChatUpdateSettingsDocument } from './operations/ChatUpdateSettings.generated.ts';
import { useAllChats } from './useChats.ts';

type Settings = NonNullable<ChatSettingsQuery['viewerChatSettings']>;

const WRITERS: Record<WhoMayWrite, string> = { EVERYONE: 'Everyone', FOLLOWED: 'Accounts that I follow, and friends', FRIENDS: 'Friends', NOBODY: 'Nobody' };

export function ChatSettings({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const section = useRef<HTMLElement>(null);
  const [settings, setSettings] = useState<Settings | null>(null);
  const [error, setError] = useState('');
  usePageEscape(onClose);
  useEffect(() => {
    section.current?.focus({ preventScroll: true });
    read(client, ChatSettingsDocument, {}).then(
      ({ viewerChatSettings }) => setSettings(viewerChatSettings),
      (errors: ErrorMessage[]) => setError(messageOf(errors)),
    );
  }, [client]);
  return (
    <section ref={section} className="chat-settings" aria-label="Chat settings" tabIndex={-1} onKeyDown={onEscape(onClose)}>
      {settings && <SettingsForm settings={settings} />}
      {!settings && !error && <Loading />}
      <p className="error" role="alert">
        {error}
      </p>
      <button type="button" className="quiet" onClick={onClose}>
        Close
      </button>
    </section>
  );
}

function SettingsForm({ settings }: { settings: Settings }) {
  const client = useClient();
  const { changeReceipts } = useAllChats();
  const shares = useRef(settings.sharesSeen);
  const [isSaved, setIsSaved] = useState(false);
  const [hint, accepted] = [useId(), useId()];
  const save = async (fields: FormData): Promise<ErrorMessage[]> => {
    const input = { whoMayWrite: fields.get('whoMayWrite') as WhoMayWrite, sharesSeen: fields.has('sharesSeen') };
    const { data, error } = await client.mutation(ChatUpdateSettingsDocument, { input }).toPromise();
    const saved = data?.result?.settings;
    setIsSaved(Boolean(saved));
    if (saved && saved.sharesSeen !== shares.current) changeReceipts();
    shares.current = saved?.sharesSeen ?? shares.current;
    return errorMessagesOf(error, data?.result);
  };
  return (
    <div className="settings-form" onChange={() => setIsSaved(false)}>
      <Form label="Chat settings" act={save} button={(busy) => <button className="primary" aria-disabled={busy}>Save</button>}>
        <ChoiceField label="Who may write to me" name="whoMayWrite" options={WRITERS} defaultValue={settings.whoMayWrite} hint={accepted} />
        <p className="hint" id={accepted}>
          Chats that you have begun or accepted stay open.
        </p>
        <Field label="Read receipts" name="sharesSeen" hint={hint}>
          {(attributes) => <input type="checkbox" role="switch" defaultChecked={settings.sharesSeen} {...attributes} />}
        </Field>
        <p className="hint" id={hint}>
          Others see which messages you have seen, and you see it of them. Without receipts, neither is shown.
        </p>
      </Form>
      <p className="hint" role="status">
        {isSaved && 'Saved.'}
      </p>
    </div>
  );
}
