// The ads of a campaign.
import { useRef, useState } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf } from '../../api/errorMessages.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { CreateAd } from './CreateAd.tsx';
import { Facts } from './Facts.tsx';
import type { AdsAdFragment } from './fragments/AdsAd.generated.ts';
import type { AdsCampaignFragment } from './fragments/AdsCampaign.generated.ts';
import { money } from './money.ts';
import { AdsRemoveAdDocument } from './operations/RemoveAd.generated.ts';
import { count, percent, pricingText, slotName } from './labels.ts';

interface Props {
  campaign: AdsCampaignFragment;
  onChanged: () => Promise<void>;
}

export function Ads({ campaign, onChanged }: Props) {
  const ads = campaign.ads.edges.map(({ node }) => node);
  const create = useRef<HTMLDivElement>(null);
  // The button is removed: the form takes the focus.
  const removed = async () => {
    await onChanged();
    create.current?.querySelector('select')?.focus();
  };
  return (
    <section aria-labelledby="ads-title">
      <h3 id="ads-title">Ads</h3>
      {ads.length === 0 && <p className="hint">None yet: create the first one, and the campaign is served.</p>}
      <ul className="ads-list" aria-labelledby="ads-title">
        {ads.map((ad) => (
          <AdItem key={ad.id} ad={ad} onRemoved={removed} />
        ))}
      </ul>
      <h4>Create an ad</h4>
      <div ref={create}>
        <CreateAd campaignId={campaign.id} onCreated={onChanged} />
      </div>
    </section>
  );
}

function AdItem({ ad, onRemoved }: { ad: AdsAdFragment; onRemoved: () => Promise<void> }) {
  const [, remove] = useMutation(AdsRemoveAdDocument);
  const [error, setError] = useState('');
  const act = async () => {
    const { data, error } = await remove({ input: { adId: ad.id } });
    const errors = errorMessagesOf(error, data?.removeAd);
    setError(messageOf(errors));
    if (errors.length === 0) await onRemoved();
  };
  const shown = ad.slot === 'IN_FEED' ? (ad.status?.message ?? 'Its status is gone.') : ad.snippet;
  return (
    <li className="ad">
      <article>
        <header>
          <strong className="slot">{slotName(ad.slot)}</strong>{' '}
          <span className="price">
            {money(ad.bid)} {pricingText(ad.pricing)}
          </span>
        </header>
        <p className="message" dir="auto">
          {shown}
        </p>
        {ad.targetUrl && <p className="target">{ad.targetUrl}</p>}
        <Facts
          facts={[
            ['eCPM', money(ad.ecpm)],
            ['Impressions', count(ad.impressionCount)],
            ['Clicks', count(ad.clickCount)],
            ['CTR', ad.impressionCount > 0 ? percent(ad.ctr) : '–'],
          ]}
        />
        <footer>
          <ConfirmButton className="remove quiet" label="Remove" question="Remove it for good?" act={act} />
        </footer>
        <p className="error" role="alert">
          {error}
        </p>
      </article>
    </li>
  );
}
