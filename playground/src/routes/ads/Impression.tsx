// An ad that was served: its text, a button that clicks it, and the link that a page would show.
import { useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { useBusy } from '../../ui/useBusy.ts';
import { AdsClickAdDocument } from './operations/ClickAd.generated.ts';
import { hostOf } from './labels.ts';

const NOT_COUNTED = 'Not counted: a repeated or late click, or too many clicks from this visitor, address or website.';

interface Props {
  impression: { token: string; clickUrl: string; ad: { slot: string; snippet: string; targetUrl: string } };
}

export function Impression({ impression: { token, clickUrl, ad } }: Props) {
  const [, click] = useMutation(AdsClickAdDocument);
  const [result, setResult] = useState({ error: '', outcome: '' });
  const [busy, run] = useBusy();
  const act = async () => {
    const { data, error } = await click({ input: { token } });
    const errors = errorMessagesOf(error, data?.clickAd);
    const outcome = data?.clickAd?.counted ? `Counted. Destination: ${data.clickAd.targetUrl}` : NOT_COUNTED;
    setResult({ error: messageOf(errors), outcome: errors.length > 0 ? '' : outcome });
  };
  return (
    <li className="impression">
      <article data-slot={ad.slot}>
        <p className="message" dir="auto">
          {ad.snippet}
        </p>
        <p className="target">{hostOf(ad.targetUrl)}</p>
        <footer className="actions">
          <button type="button" aria-disabled={busy} onClick={() => void run(act)}>
            Click
          </button>
          <a href={clickUrl} target="_blank" rel="noreferrer">
            Follow its link
          </a>
        </footer>
        <p className="click-result" role="status">
          {result.outcome}
        </p>
        <p className="error" role="alert">
          {result.error}
        </p>
      </article>
    </li>
  );
}
