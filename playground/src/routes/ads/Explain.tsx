// Explains whether a campaign would be served now, and why not.
import { useState } from 'react';
import { useClient } from 'urql';
import { errorMessagesOf, type ErrorMessage } from '../../api/errorMessages.ts';
import type { AdSlot } from '../../api/schema.generated.ts';
import { AreaField, ChoiceField, Form, TextField } from '../../ui/Form.tsx';
import { money } from './money.ts';
import { AdsExplainDocument, type AdsExplainQuery } from './operations/Explain.generated.ts';
import { count, reasonText, rows } from './labels.ts';

const SLOTS = { BANNER: 'Banner', SKYSCRAPER: 'Skyscraper', SQUARE: 'Square', IN_FEED: 'In the feed' };
const GONE: ErrorMessage[] = [{ message: 'There is no such campaign, or it is not yours.', path: [] }];

type Explanation = NonNullable<AdsExplainQuery['explainAd']>;

export function Explain({ campaignId }: { campaignId: string }) {
  const client = useClient();
  const [answer, setAnswer] = useState<Explanation | null>(null);
  const act = async (fields: FormData) => {
    setAnswer(null);
    const visitorId = String(fields.get('visitorId')).trim() || null;
    const asked = { campaignId, slot: fields.get('slot') as AdSlot, keywords: rows(String(fields.get('keywords'))), visitorId };
    const { data, error } = await client.query(AdsExplainDocument, asked, { requestPolicy: 'network-only' }).toPromise();
    setAnswer(data?.explainAd ?? null);
    const errors = errorMessagesOf(error);
    return data?.explainAd || errors.length > 0 ? errors : GONE;
  };
  return (
    <section aria-labelledby="explain-title">
      <h3 id="explain-title">Eligibility</h3>
      <p className="hint">Would it be chosen now, and if not, why? Nothing is counted.</p>
      <Form label="Eligibility" act={act} button={(busy) => <button aria-disabled={busy}>Explain</button>}>
        <div className="row">
          <ChoiceField label="Slot" name="slot" options={SLOTS} />
          <TextField label="Visitor" name="visitorId" spellCheck={false} placeholder="unknown" />
        </div>
        <AreaField label="Keywords of the page" name="keywords" rows={2} spellCheck={false} />
      </Form>
      <div className="answer" role="status">
        {answer && <Answer {...answer} />}
      </div>
    </section>
  );
}

function Answer({ eligible, reasons, rank, ecpm }: Explanation) {
  const price = ecpm === null ? '' : ` Its eCPM is ${money(ecpm)}.`;
  if (eligible) return <p className="yes">{`Yes, it is eligible.${rankText(rank)}${price}`}</p>;
  return (
    <>
      <p className="no">{`No, it would not be chosen.${price}`}</p>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>{reasonText(reason)}</li>
        ))}
      </ul>
    </>
  );
}

function rankText(rank: number | null): string {
  if (rank === null) return '';
  return rank === 1 ? ' It ranks first.' : ` It ranks number ${count(rank)}.`;
}
