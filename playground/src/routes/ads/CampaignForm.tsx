// The form that creates or changes a campaign.
import { useRef } from 'react';
import { useMutation } from 'urql';
import { errorMessagesOf, type ErrorMessage } from '../../api/errorMessages.ts';
import { AreaField, ChoiceField, Form, TextField } from '../../ui/Form.tsx';
import { onEscape } from '../../ui/onEscape.ts';
import type { AdsCampaignFragment } from './fragments/AdsCampaign.generated.ts';
import { changesOf, localTime, read, type CampaignFields } from './campaign-fields.ts';
import { AdsCreateCampaignDocument } from './operations/CreateCampaign.generated.ts';
import { AdsUpdateCampaignDocument } from './operations/UpdateCampaign.generated.ts';
import { inUnits, rows } from './labels.ts';

const UNITS = { 1: 'seconds', 60: 'minutes', 3600: 'hours', 86400: 'days' };
const PACINGS = { EVEN: 'evenly', ASAP: 'as fast as possible' };
// The fields of a frequency cap.
const ALIASES = { perSeconds: 'per', frequencyCap: 'impressions' };

export function CreateCampaign({ onCreated, onCancel }: { onCreated: (id: string) => void; onCancel: () => void }) {
  const [, create] = useMutation(AdsCreateCampaignDocument);
  const created = useRef('');
  const act = async (fields: FormData, idempotencyKey: string) => {
    const { data, error } = await create({ input: { ...withoutNulls(read(fields)), keywords: rows(String(fields.get('keywords'))), idempotencyKey } });
    created.current = data?.createCampaign?.campaign?.id ?? '';
    return errorMessagesOf(error, data?.createCampaign);
  };
  return (
    <CampaignForm label="Create campaign" act={act} onDone={() => onCreated(created.current)} onCancel={onCancel}>
      <AreaField label="Keywords" name="keywords" rows={3} spellCheck={false} hint="keywords-hint" />
      <p className="hint" id="keywords-hint">
        One per line. Without keywords, the campaign matches every page.
      </p>
    </CampaignForm>
  );
}

const withoutNulls = (fields: CampaignFields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as CampaignFields;

// Sends only changed fields, so that changes from elsewhere are kept.
export function ChangeCampaign({ campaign, onDone, onCancel }: { campaign: AdsCampaignFragment; onDone: () => void; onCancel: () => void }) {
  const [, update] = useMutation(AdsUpdateCampaignDocument);
  const act = async (fields: FormData) => {
    const changed = changesOf(campaign, read(fields));
    if (Object.keys(changed).length === 0) return [];
    const { data, error } = await update({ input: { campaignId: campaign.id, ...changed } });
    return errorMessagesOf(error, data?.updateCampaign);
  };
  return <CampaignForm label="Save" campaign={campaign} act={act} onDone={onDone} onCancel={onCancel} />;
}

interface Props {
  label: string;
  campaign?: AdsCampaignFragment;
  act: (fields: FormData, key: string) => Promise<ErrorMessage[]>;
  onDone: () => void;
  onCancel: () => void;
  children?: React.ReactNode;
}

function CampaignForm({ label, campaign, act, onDone, onCancel, children }: Props) {
  const cap = campaign?.frequencyCap;
  const { per, unit } = cap ? inUnits(cap.perSeconds) : { per: 1, unit: 3600 };
  const button = (busy: boolean) => (
    <div className="actions">
      <button className="primary" aria-disabled={busy}>
        {label}
      </button>
      <button className="quiet" type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
  return (
    <div onKeyDown={onEscape(onCancel)}>
      <Form label={label} aliases={ALIASES} act={act} onDone={onDone} button={button}>
        <TextField label="Name" name="name" required defaultValue={campaign?.name} autoFocus={Boolean(campaign)} />
        <div className="row">
          <TextField label="Budget" name="budget" inputMode="decimal" placeholder="100" required defaultValue={campaign?.budget} />
          <TextField label="Daily budget" name="dailyBudget" inputMode="decimal" placeholder="no limit" defaultValue={campaign?.dailyBudget ?? ''} />
        </div>
        <div className="row wide">
          <TextField label="Starts" name="startsAt" type="datetime-local" defaultValue={localTime(campaign?.startsAt)} />
          <TextField label="Ends" name="endsAt" type="datetime-local" defaultValue={localTime(campaign?.endsAt)} />
        </div>
        <p className="hint">In your own time zone. Without a start it starts at once, without an end it ends with its budget.</p>
        <div className="row">
          <TextField label="Frequency cap: impressions" name="impressions" type="number" min="1" step="1" placeholder="no cap" defaultValue={cap?.impressions} />
          <TextField label="per visitor, in" name="per" type="number" min="1" step="1" defaultValue={per} />
          <ChoiceField label="Unit of time" name="unit" options={UNITS} defaultValue={unit} />
        </div>
        <ChoiceField label="Pacing" name="pacing" options={PACINGS} defaultValue={campaign?.pacing} />
        {children}
      </Form>
    </div>
  );
}
