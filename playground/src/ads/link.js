// Whose side is shown, and which campaign: it stands in the page's address, so that it can be linked to, outlives a reload and is left by going
// back.
const asked = () => new URLSearchParams(location.hash.slice(1));

// The id of the campaign that is open, `new` for one that is to be made, or null.
export const openCampaign = () => (openSide() === 'advertiser' ? asked().get('campaign') : null);
export const openSide = () => (asked().get('side') === 'publisher' ? 'publisher' : 'advertiser');
export const linkTo = (campaign) => `#${new URLSearchParams({ campaign })}`;

export function goTo(campaign) {
  location.hash = campaign ? linkTo(campaign) : '';
}

// Who comes back from the other side finds the campaign that was open.
export function goToSide(side) {
  const next = asked();
  if (side === 'publisher') next.set('side', side);
  else next.delete('side');
  location.hash = next;
}

export function onLink(listener) {
  addEventListener('hashchange', listener);
}
