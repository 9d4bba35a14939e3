// A publisher's websites, and the form that registers one.
import { useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import { useViewer } from '../../session/useSession.ts';
import { Form, TextField } from '../../ui/Form.tsx';
import type { AdsWebsiteFragment } from './fragments/AdsWebsite.generated.ts';
import { AdsRegisterWebsiteDocument } from './operations/RegisterWebsite.generated.ts';
import { AdsWebsitesDocument } from './operations/Websites.generated.ts';
import { Pages } from './Pages.tsx';

// `onTry` receives the key of a website.
export function Websites({ onTry }: { onTry: (key: string) => void }) {
  const viewer = useViewer();
  return (
    <section className="websites" aria-labelledby="websites-title">
      <h2 id="websites-title">Websites</h2>
      {viewer ? (
        <>
          <Pages
            document={AdsWebsitesDocument}
            connection={({ viewerWebsites }) => viewerWebsites}
            item={(website) => <Website key={website.id} website={website} onTry={onTry} />}
            more="More websites"
            empty="You have no websites yet. Register the first one."
          />
          <Register onRegistered={onTry} />
        </>
      ) : (
        <p className="hint">Log in to see and register websites. If you have the key of a website, you can try a slot without logging in.</p>
      )}
    </section>
  );
}

function Website({ website: { name, origin, key, isSuspended }, onTry }: { website: AdsWebsiteFragment; onTry: (key: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [copyLabel, setCopyLabel] = useState('Copy the key');
  // Without HTTPS there is no clipboard API: the key is selected, to be copied by hand.
  const copy = async () => {
    const isCopied = await navigator.clipboard?.writeText(key).then(
      () => true,
      () => false,
    );
    setCopyLabel(isCopied ? 'Copied' : 'Copy it from the field');
    if (!isCopied) field.current?.focus();
  };
  return (
    <li className="website">
      <strong dir="auto">{name}</strong> <span className="origin">{origin}</span>
      {isSuspended && <p className="notice">Your publisher account is suspended. Your websites get no ads.</p>}
      <label>
        Key <input ref={field} className="key" readOnly spellCheck={false} value={key} onFocus={({ target }) => target.select()} />
      </label>
      <div className="actions">
        <button type="button" onClick={() => onTry(key)}>
          Try a slot
        </button>
        <button type="button" className="quiet" onClick={() => void copy()}>
          {copyLabel}
        </button>
      </div>
    </li>
  );
}

function Register({ onRegistered }: { onRegistered: (key: string) => void }) {
  const [, register] = useMutation(AdsRegisterWebsiteDocument);
  const registeredKey = useRef('');
  const act = async (fields: FormData, idempotencyKey: string) => {
    const input = { name: String(fields.get('name')), origin: String(fields.get('origin')), idempotencyKey };
    const { data, error } = await register({ input });
    registeredKey.current = data?.registerWebsite?.website?.key ?? '';
    return errorMessagesOf(error, data?.registerWebsite);
  };
  const done = (form: HTMLFormElement) => {
    form.reset();
    onRegistered(registeredKey.current);
  };
  const button = (busy: boolean) => (
    <button className="primary" aria-disabled={busy}>
      Register
    </button>
  );
  return (
    <Form label="Register a website" act={act} onDone={done} button={button}>
      <TextField label="Name" name="name" required />
      <TextField label="Origin" name="origin" type="url" placeholder="https://example.com" required />
    </Form>
  );
}
