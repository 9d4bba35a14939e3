// The viewer's campaigns, each with its state and how much of its budget is spent.
import { useViewer } from '../../session/useSession.ts';
import { linkTo, NEW } from './link.ts';
import { money } from './money.ts';
import type { AdsCampaignRowFragment } from './fragments/AdsCampaignRow.generated.ts';
import { AdsCampaignsDocument } from './operations/Campaigns.generated.ts';
import { Pages } from './Pages.tsx';
import { Link } from 'react-router';
import { stateName } from './labels.ts';

export function CampaignList({ open }: { open: string | null }) {
  const viewer = useViewer();
  return (
    <section className="campaigns" aria-labelledby="campaigns-title">
      <h2 id="campaigns-title">Campaigns</h2>
      {viewer ? (
        <>
          <Pages
            document={AdsCampaignsDocument}
            connection={({ viewerCampaigns }) => viewerCampaigns}
            item={(campaign) => <CampaignRow key={campaign.id} campaign={campaign} isOpen={campaign.id === open} />}
            version={open}
            more="More campaigns"
            empty="You have no campaigns yet. Create the first one."
          />
          <Link className="button" to={linkTo(NEW)}>
            New campaign
          </Link>
        </>
      ) : (
        <p className="hint">Log in to see your campaigns.</p>
      )}
    </section>
  );
}

function CampaignRow({ campaign, isOpen }: { campaign: AdsCampaignRowFragment; isOpen: boolean }) {
  const { id, name, state, isSuspended, spent, budget } = campaign;
  return (
    <li>
      <Link to={linkTo(id)} aria-current={isOpen ? 'page' : undefined} dir="auto">
        {name}
      </Link>
      <span className="state" data-state={isSuspended ? 'SUSPENDED' : state}>
        {isSuspended ? 'Suspended' : stateName(campaign)}
      </span>
      <span className="money">
        {money(spent)} of {money(budget)}
      </span>
      <svg className="meter" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="1" />
        <rect className="spent" width={Math.min(100, (100 * Number(spent)) / Number(budget))} height="1" />
      </svg>
    </li>
  );
}
