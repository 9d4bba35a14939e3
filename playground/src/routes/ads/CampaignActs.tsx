// The actions of a campaign: pause, resume, stop.
import type { ReactNode } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, messageOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { useBusy } from '../../ui/useBusy.ts';
import { AdsPauseCampaignDocument } from './operations/PauseCampaign.generated.ts';
import { AdsResumeCampaignDocument } from './operations/ResumeCampaign.generated.ts';
import { AdsStopCampaignDocument } from './operations/StopCampaign.generated.ts';
import { actsOf } from './words.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

interface Props {
  campaign: { id: string; state: string };
  readAt: Date;
  onActed: () => Promise<void>;
  onRefresh: () => Promise<void>;
  onError: (message: string) => void;
  // Takes the focus when a button is removed after its action.
  title: React.RefObject<HTMLElement | null>;
  children: ReactNode;
}

export function CampaignActs({ campaign, readAt, onActed, onRefresh, onError, title, children }: Props) {
  const [, pause] = useMutation(AdsPauseCampaignDocument);
  const [, resume] = useMutation(AdsResumeCampaignDocument);
  const [, stop] = useMutation(AdsStopCampaignDocument);
  const [busy, run] = useBusy();
  const input = { campaignId: campaign.id };
  const finish = async (errors: ErrorMessage[]) => {
    onError(messageOf(errors));
    if (errors.length === 0) await onActed();
    if (document.activeElement === document.body) title.current?.focus();
  };
  const acts = {
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
  const can = actsOf(campaign);
  const button = (label: string, act: () => Promise<void>, className?: string) => (
    <button type="button" className={className} aria-disabled={busy} onClick={() => void run(act)}>
      {label}
    </button>
  );
  return (
    <div className="acts">
      {can.pause && button('Pause', acts.pause)}
      {can.resume && button('Resume', acts.resume)}
      {can.stop && <ConfirmButton label="Stop" question="Stop it for good?" act={acts.stop} />}
      {children}
      <span className="read-at">
        Read at {TIME.format(readAt)}. {button('Refresh', acts.refresh, 'quiet')}
      </span>
    </div>
  );
}
