// The ad network: an advertiser's campaigns and a publisher's websites. The URL has the side and the open campaign.
import { useCallback, useRef, useState } from 'react';
import { useViewer } from '../../session/useSession.ts';
import { useTitle } from '../../ui/useTitle.ts';
import { Advertiser } from './Advertiser.tsx';
import { useAdsLink } from './link.ts';
import { Publisher } from './Publisher.tsx';
import { SideChoice } from './SideChoice.tsx';
import { CampaignList } from './CampaignList.tsx';
import { Websites } from './Websites.tsx';
import './ads.css';
import './campaign.css';
import './plots.css';

export function Component() {
  useTitle('ads');
  const viewer = useViewer();
  const link = useAdsLink();
  const [websiteKey, setWebsiteKey] = useState('');
  const isAdvertiser = link.side === 'advertiser';
  const focus = useFocusOnOpen(link.campaign);
  return (
    <div className="columns ads">
      <aside aria-label="Side">
        <SideChoice side={link.side} onChange={link.goToSide} />
        {isAdvertiser ? <CampaignList key={viewer?.id} open={link.campaign} /> : <Websites key={viewer?.id} onTry={setWebsiteKey} />}
      </aside>
      <main>
        <h1 className="visually-hidden">Ads</h1>
        {isAdvertiser && <Advertiser key={viewer?.id} campaign={link.campaign} goTo={link.goTo} focus={focus} />}
        {/* Stays mounted on the other side, so that the list of requests is kept. */}
        <div hidden={isAdvertiser}>
          <Publisher websiteKey={websiteKey} />
        </div>
      </main>
    </div>
  );
}

// Moves the focus to the heading of a campaign that the user opens; a change of sides leaves it at the switch. Returns the ref callback of the heading.
function useFocusOnOpen(campaign: string | null): (heading: HTMLElement | null) => void {
  const state = useRef({ campaign, isWanted: false });
  if (state.current.campaign !== campaign) state.current = { campaign, isWanted: campaign !== null };
  return useCallback((heading) => {
    if (!heading || !state.current.isWanted) return;
    state.current.isWanted = false;
    heading.focus();
  }, []);
}
