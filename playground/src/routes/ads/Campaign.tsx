// One campaign: its state, figures, keywords and ads, with their actions. After each action it is read again.
import { useCallback, useRef, useState } from 'react';
import { useViewer } from '../../session/useSession.ts';
import { messageOf } from '../../api/errorMessages.ts';
import { Ads } from './Ads.tsx';
import { CampaignActions } from './CampaignActions.tsx';
import { ChangeCampaign } from './CampaignForm.tsx';
import { Explain } from './Explain.tsx';
import { Facts } from './Facts.tsx';
import { campaignFacts } from './campaign-facts.ts';
import { Figures } from './Figures.tsx';
import { Keywords } from './Keywords.tsx';
import { useCampaign } from './useCampaign.ts';
import { stateName, stateText } from './labels.ts';

export function Campaign({ id, focus }: { id: string; focus: (heading: HTMLElement | null) => void }) {
  const [days, setDays] = useState(30);
  const { campaign, errors, updatedAt, refresh } = useCampaign(id, days);
  const [isChanging, setIsChanging] = useState(false);
  const [error, setError] = useState('');
  const title = useRef<HTMLHeadingElement>(null);
  const changeButton = useRef<HTMLButtonElement>(null);
  const viewer = useViewer();
  const heading = useCallback((element: HTMLHeadingElement | null) => {
    title.current = element;
    focus(element);
  }, []);
  if (!viewer) return null;
  const message = error || messageOf(errors);
  const alert = (
    <p className="error" role="alert">
      {message}
    </p>
  );
  if (!campaign) return <section className="campaign">{alert}</section>;
  const closeChange = () => {
    setIsChanging(false);
    changeButton.current?.focus();
  };
  const changed = () => {
    closeChange();
    void refresh();
  };
  return (
    <section className="campaign" aria-labelledby="campaign-title">
      <header>
        <h2 id="campaign-title" ref={heading} tabIndex={-1} dir="auto">
          {campaign.name}
        </h2>
        <p className="standing">
          <strong className="state" data-state={campaign.state}>
            {stateName(campaign)}
          </strong>{' '}
          <span role="status">{stateText(campaign)}</span>
        </p>
        {campaign.isSuspended && <p className="notice">Your advertiser account is suspended. None of your ads is served.</p>}
        <CampaignActions campaign={campaign} updatedAt={updatedAt} onCompleted={refresh} onError={setError} onRefresh={refresh} title={title}>
          <button type="button" ref={changeButton} aria-expanded={isChanging} onClick={() => setIsChanging(!isChanging)}>
            Change
          </button>
        </CampaignActions>
        {alert}
      </header>
      {isChanging && (
        <div className="changing">
          <ChangeCampaign campaign={campaign} onDone={changed} onCancel={closeChange} />
        </div>
      )}
      <Facts className="main-facts" facts={campaignFacts(campaign)} />
      <Figures report={campaign.report} days={days} onDays={setDays} />
      <Keywords campaign={campaign} onChanged={refresh} />
      <Ads campaign={campaign} onChanged={refresh} />
      <Explain campaignId={campaign.id} />
    </section>
  );
}
