// The actions of a campaign: pause, resume, stop.
import type { ReactNode } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { AdsPauseCampaignDocument } from './operations/PauseCampaign.generated.ts';
import { AdsResumeCampaignDocument } from './operations/ResumeCampaign.generated.ts';
import { AdsStopCampaignDocument } from './operations/StopCampaign.generated.ts';
import { allowedActions } from './labels.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface Props {
  campaign: { id: string; state: string };
  updatedAt: Date;
  onCompleted: () => Promise<void>;
  onRefresh: () => Promise<void>;
  onError: (message: string) => void;
  // Takes the focus when a button is removed after its action.
  title: React.RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function CampaignActions({ campaign, updatedAt, onCompleted, onRefresh, onError, title, children }: Props) {
  const [, pause] = useMutation(AdsPauseCampaignDocument);
  const [, resume] = useMutation(AdsResumeCampaignDocument);
  const [, stop] = useMutation(AdsStopCampaignDocument);
  const [busy, run] = useBusy();
  const input = { campaignId: campaign.id };
  const finish = async (errors: ErrorMessage[]) => {
    onError(messageOf(errors));
    if (errors.length === 0) await onCompleted();
    if (document.activeElement === document.body) title.current?.focus();
  };
  const actions = {
    pause: async () => {
      const { data, error } = await pause({ input });
      await finish(errorMessagesOf(error, data?.pauseCampaign));
    },
    resume: async () => {
      const { data, error } = await resume({ input });
      await finish(errorMessagesOf(error, data?.resumeCampaign));
    },
    stop: async () => {
      const { data, error } = await stop({ input });
      await finish(errorMessagesOf(error, data?.stopCampaign));
    },
    refresh: async () => {
      onError('');
      await onRefresh();
    },
  };
  const allowed = allowedActions(campaign);
  const button = (label: string, action: () => Promise<void>, className?: string) => (
    <button type="button" className={className} aria-disabled={busy} onClick={() => void run(action)}>
      {label}
    </button>
  );
  return (
    <div className="actions">
      {allowed.pause && button('Pause', actions.pause)}
      {allowed.resume && button('Resume', actions.resume)}
      {allowed.stop && <ConfirmButton label="Stop" question="Stop it for good?" act={actions.stop} />}
      {children}
      <span className="updated-at">
        Updated at {TIME.format(updatedAt)}. {button('Refresh', actions.refresh, 'quiet')}
      </span>
    </div>
  );
}
