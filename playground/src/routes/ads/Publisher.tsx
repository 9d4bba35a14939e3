// A publisher tries a slot: requests ads as a page would, and clicks them. Each request is listed, which shows the effect of a frequency cap.
import { useEffect, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf } from '../../api/errorMessages.ts';
import type { AdSlot } from '../../api/schema.generated.ts';
import { newKey } from '../../api/new-key.ts';
import { AreaField, ChoiceField, Field, Form, TextField } from '../../ui/Form.tsx';
import { SLOTS } from './CreateAd.tsx';
import { Impression } from './Impression.tsx';
import { AdsServeAdsDocument, type AdsServeAdsMutation } from './operations/ServeAds.generated.ts';
import { count, rows, slotName } from './labels.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
// The number of requests that are listed.
const KEPT = 20;

type Impressions = NonNullable<NonNullable<AdsServeAdsMutation['serveAds']>['impressions']>;

// `websiteKey` is the key of the website to try.
export function Publisher({ websiteKey }: { websiteKey: string }) {
  const [, serve] = useMutation(AdsServeAdsDocument);
  const [key, setKey] = useState('');
  const [visitor, setVisitor] = useState(someVisitor);
  const [served, setServed] = useState<Impressions | null>(null);
  const [requests, setRequests] = useState<string[]>([]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!websiteKey) return;
    setKey(websiteKey);
    title.current?.focus();
  }, [websiteKey]);

  const act = async (fields: FormData) => {
    const text = (name: string) => String(fields.get(name)).trim();
    const visitorId = text('visitorId') || null;
    const [slot, keywords] = [text('slot') as AdSlot, rows(text('keywords'))];
    const { data, error } = await serve({ input: { websiteKey: text('websiteKey'), slot, keywords, visitorId, count: Number(text('count')) } });
    const errors = errorMessagesOf(error, data?.serveAds);
    const impressions = data?.serveAds?.impressions;
    if (!impressions || errors.length > 0) return errors;
    setServed(impressions);
    const asked = [slotName(slot), visitorId ? `visitor ${visitorId}` : 'an unknown visitor', ...keywords].join(', ');
    setRequests((requests) => [`${TIME.format()} ${asked}: ${outcomeText(impressions.length)}`, ...requests].slice(0, KEPT));
    return [];
  };
  const button = (busy: boolean) => (
    <div className="actions">
      <button className="primary" aria-disabled={busy}>
        Request ads
      </button>
      <button type="button" onClick={() => setVisitor(someVisitor())}>
        Another visitor
      </button>
    </div>
  );
  return (
    <section className="slot" aria-labelledby="slot-title">
      <h2 id="slot-title" ref={title} tabIndex={-1}>
        Try a slot
      </h2>
      <p className="hint">What a page of the website would request. Impressions and clicks are counted and charged.</p>
      <Form label="Try a slot" act={act} button={button}>
        <TextField label="Website key" name="websiteKey" spellCheck={false} required value={key} onChange={({ target }) => setKey(target.value)} />
        <div className="row">
          <ChoiceField label="Slot" name="slot" options={SLOTS} />
          <TextField label="Count" name="count" type="number" min="1" max="10" defaultValue="1" required />
        </div>
        <Field label="Visitor" name="visitorId" hint="visitor-hint">
          {(attributes) => <input autoComplete="off" spellCheck={false} value={visitor} onChange={({ target }) => setVisitor(target.value)} {...attributes} />}
        </Field>
        <p className="hint" id="visitor-hint">
          The website’s id of the visitor. Without one, only campaigns without a frequency cap are eligible.
        </p>
        <AreaField label="Keywords of the page" name="keywords" rows={2} spellCheck={false} hint="page-keywords-hint" />
        <p className="hint" id="page-keywords-hint">
          One per line. A campaign with keywords matches only pages that have one of them.
        </p>
      </Form>
      <p className="outcome" role="status">
        {served && outcomeText(served.length)}
      </p>
      <ul className="served" aria-label="Served ads">
        {served?.map((impression) => <Impression key={impression.id} impression={impression} />)}
      </ul>
      {requests.length > 0 && <h3>Requests</h3>}
      <ol className="asked" reversed aria-label="Requests">
        {requests.map((request, at) => (
          <li key={requests.length - at}>{request}</li>
        ))}
      </ol>
    </section>
  );
}

function outcomeText(many: number): string {
  if (many === 0) return 'No eligible ad.';
  return many === 1 ? '1 ad was served.' : `${count(many)} ads were served.`;
}

const someVisitor = () => `visitor-${newKey().slice(0, 8)}`;
