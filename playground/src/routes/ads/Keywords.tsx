// The keywords of a campaign, and the form that adds some.
import { useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { AreaField, Form } from '../../ui/Form.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { AdsAddKeywordsDocument } from './operations/AddKeywords.generated.ts';
import { AdsRemoveKeywordsDocument } from './operations/RemoveKeywords.generated.ts';
import { rows } from './labels.ts';

interface Props {
  campaign: { id: string; keywords: readonly string[] };
  onChanged: () => Promise<void>;
}

export function Keywords({ campaign: { id, keywords }, onChanged }: Props) {
  const [, add] = useMutation(AdsAddKeywordsDocument);
  const [, remove] = useMutation(AdsRemoveKeywordsDocument);
  const [error, setError] = useState('');
  const [busy, run] = useBusy();
  const act = async (fields: FormData) => {
    const { data, error } = await add({ input: { campaignId: id, keywords: rows(String(fields.get('keywords'))) } });
    return errorMessagesOf(error, data?.addCampaignKeywords);
  };
  const done = async (form: HTMLFormElement) => {
    form.reset();
    await onChanged();
    form.querySelector('textarea')?.focus();
  };
  const removeOne = (keyword: string, form: HTMLFormElement | null | undefined) => async () => {
    const { data, error } = await remove({ input: { campaignId: id, keywords: [keyword] } });
    const errors = errorMessagesOf(error, data?.removeCampaignKeywords);
    setError(messageOf(errors));
    if (errors.length > 0) return;
    await onChanged();
    // The button is removed: the form takes the focus.
    form?.querySelector('textarea')?.focus();
  };
  return (
    <section aria-labelledby="keywords-title">
      <h3 id="keywords-title">Keywords</h3>
      {keywords.length === 0 && <p className="hint">None: the campaign fits every page.</p>}
      <ul className="keywords" aria-labelledby="keywords-title">
        {keywords.map((keyword) => (
          <li key={keyword}>
            <span dir="auto">{keyword}</span>
            <button
              type="button"
              className="quiet"
              aria-label={`Remove ${keyword}`}
              aria-disabled={busy}
              onClick={({ currentTarget }) => void run(removeOne(keyword, currentTarget.closest('section')?.querySelector('form')))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <p className="error" role="alert">
        {error}
      </p>
      <Form label="Add keywords" act={act} onDone={(form) => void done(form)} button={(busy) => <button aria-disabled={busy}>Add keywords</button>}>
        <AreaField label="Keywords to add" name="keywords" rows={2} spellCheck={false} required hint="add-keywords-hint" />
        <p className="hint" id="add-keywords-hint">
          One per line. A keyword may have several words, and is compared whole, without case.
        </p>
      </Form>
    </section>
  );
}
