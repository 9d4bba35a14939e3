// The side (advertiser or publisher) and the open campaign. They are part of the URL, so that links, reloads and the back button work.
import { useLocation, useNavigate } from 'react-router';

export type Side = 'advertiser' | 'publisher';

// Stands for a campaign that is not created yet.
export const NEW = 'new';

export const linkTo = (campaign: string) => `#${new URLSearchParams({ campaign })}`;

export function useAdsLink() {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const asked = new URLSearchParams(hash.slice(1));
  const side: Side = asked.get('side') === 'publisher' ? 'publisher' : 'advertiser';
  return {
    side,
    // The id of the campaign that is open, `new`, or null. It stays open when the user changes sides.
    campaign: asked.get('campaign'),
    goTo: (campaign: string | null) => void navigate({ hash: campaign ? linkTo(campaign) : '' }),
    goToSide(side: Side) {
      if (side === 'publisher') asked.set('side', side);
      else asked.delete('side');
      void navigate({ hash: String(asked) });
    },
  };
}
