// Whose side is shown, and which campaign: the address says it, so that it can be linked to, outlives a reload and is left by going back.
import { useLocation, useNavigate } from 'react-router';

export type Side = 'advertiser' | 'publisher';

// A campaign that is to be created.
export const NEW = 'new';

export const linkTo = (campaign: string) => `#${new URLSearchParams({ campaign })}`;

export function useAdsLink() {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const asked = new URLSearchParams(hash.slice(1));
  const side: Side = asked.get('side') === 'publisher' ? 'publisher' : 'advertiser';
  return {
    side,
    // The id of the campaign that is open, `new`, or null. Whoever comes back from the other side finds it open.
    campaign: asked.get('campaign'),
    goTo: (campaign: string | null) => void navigate({ hash: campaign ? linkTo(campaign) : '' }),
    goToSide(side: Side) {
      if (side === 'publisher') asked.set('side', side);
      else asked.delete('side');
      void navigate({ hash: String(asked) });
    },
  };
}
