// The form that creates an ad, of a text or of a status of the viewer.
import { useRef, useState } from 'react';
import { useMutation, useQuery } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import type { AdPricing, AdSlot } from '../../api/schema.generated.ts';
import { AreaField, ChoiceField, Form, TextField } from '../../ui/Form.tsx';
import { AdsCreateAdDocument } from './operations/CreateAd.generated.ts';
import { AdsOwnStatusesDocument } from './operations/OwnStatuses.generated.ts';

// The number of the viewer's latest statuses to choose from.
const STATUSES = 50;
export const SLOTS = { BANNER: 'Banner', SKYSCRAPER: 'Skyscraper', SQUARE: 'Square' };
const ALL_SLOTS = { ...SLOTS, IN_FEED: 'In the feed: a promoted status' };
const PRICINGS = { CPM: 'CPM: per thousand impressions', CPC: 'CPC: per click' };

interface Props {
  campaignId: string;
  onCreated: () => Promise<void>;
}

export function CreateAd({ campaignId, onCreated }: Props) {
  const [, create] = useMutation(AdsCreateAdDocument);
  const [slot, setSlot] = useState<AdSlot>('BANNER');
  const first = useRef<HTMLDivElement>(null);
  const act = async (fields: FormData, idempotencyKey: string) => {
    const text = (name: string) => (fields.has(name) ? String(fields.get(name)) : undefined);
    const shown = { snippet: text('snippet'), targetUrl: text('targetUrl'), statusId: text('statusId') };
    const paid = { pricing: text('pricing') as AdPricing, bid: (text('bid') ?? '').trim() };
    const { data, error } = await create({ input: { campaignId, slot, ...shown, ...paid, idempotencyKey } });
    return errorMessagesOf(error, data?.createAd);
  };
  const done = async (form: HTMLFormElement) => {
    form.reset();
    setSlot('BANNER');
    await onCreated();
    first.current?.querySelector('select')?.focus();
  };
  return (
    <div ref={first}>
      <Form label="Create an ad" act={act} onDone={(form) => void done(form)} button={(busy) => <button aria-disabled={busy}>Create ad</button>}>
        <ChoiceField label="Slot" name="slot" options={ALL_SLOTS} value={slot} onChange={({ target }) => setSlot(target.value as AdSlot)} />
        {slot === 'IN_FEED' ? (
          <OwnStatuses />
        ) : (
          <>
            <AreaField label="Text" name="snippet" rows={2} dir="auto" required />
            <TextField label="Destination URL" name="targetUrl" type="url" placeholder="https://example.com/offer" required />
          </>
        )}
        <div className="row wide">
          <ChoiceField label="Pricing" name="pricing" options={PRICINGS} />
          <TextField label="Bid" name="bid" inputMode="decimal" placeholder="2.25" required />
        </div>
      </Form>
    </div>
  );
}

function OwnStatuses() {
  const [{ data, error, fetching }] = useQuery({ query: AdsOwnStatusesDocument, variables: { first: STATUSES }, requestPolicy: 'cache-and-network' });
  const statuses = data?.viewer?.profileTimeline.entries.edges.map(({ node }) => node.status) ?? [];
  const nothing = !fetching && statuses.length === 0 ? 'You have posted nothing yet. Write a post on the page Home first.' : '';
  return (
    <>
      <ChoiceField label="A status of yours" name="statusId" required options={Object.fromEntries(statuses.map(({ id, message }) => [id, message]))} />
      <p className="error" role="alert">
        {messageOf(errorMessagesOf(error)) || nothing}
      </p>
    </>
  );
}
