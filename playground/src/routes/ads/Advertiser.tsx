// The advertiser's side: a new campaign, the open campaign, or a hint.
import { useViewer } from '../../session/useSession.ts';
import { Campaign } from './Campaign.tsx';
import { CreateCampaign } from './CampaignForm.tsx';
import { NEW } from './link.ts';

interface Props {
  campaign: string | null;
  goTo: (campaign: string | null) => void;
  // Moves the focus to the heading of an opened campaign.
  focus: (heading: HTMLElement | null) => void;
}

export function Advertiser({ campaign, goTo, focus }: Props) {
  const viewer = useViewer();
  if (!viewer) return <p>Log in above to see your campaigns, or choose Publisher to try a slot without an account.</p>;
  if (campaign === null) return <p>Choose a campaign, or create a new one.</p>;
  if (campaign !== NEW) return <Campaign key={campaign} id={campaign} focus={focus} />;
  return (
    <section aria-labelledby="new-title">
      <h2 id="new-title" ref={focus} tabIndex={-1}>
        New campaign
      </h2>
      <CreateCampaign onCreated={goTo} onCancel={() => goTo(null)} />
    </section>
  );
}
