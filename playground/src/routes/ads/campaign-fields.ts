// Converts the fields of the campaign form to the input of a mutation. Money stays text.
import type { CampaignPacing } from '../../api/schema.generated.ts';
import type { AdsCampaignFragment } from './fragments/AdsCampaign.generated.ts';

export interface CampaignFields {
  name: string;
  budget: string;
  dailyBudget: string | null;
  startsAt: string | null;
  endsAt: string | null;
  frequencyCap: { impressions: number; perSeconds: number } | null;
  pacing: CampaignPacing;
}

export function read(fields: FormData): CampaignFields {
  const text = (name: string) => String(fields.get(name) ?? '').trim() || null;
  const impressions = text('impressions');
  return {
    name: String(fields.get('name')),
    budget: text('budget') ?? '',
    dailyBudget: text('dailyBudget'),
    startsAt: instant(text('startsAt')),
    endsAt: instant(text('endsAt')),
    frequencyCap: impressions ? { impressions: Number(impressions), perSeconds: Number(fields.get('per')) * Number(fields.get('unit')) } : null,
    pacing: fields.get('pacing') as CampaignPacing,
  };
}

// The fields that differ from the campaign in the form.
export function changesOf(campaign: AdsCampaignFragment, fields: CampaignFields): Partial<CampaignFields> {
  const { name, budget, dailyBudget, startsAt, endsAt, frequencyCap, pacing } = campaign;
  const cap = frequencyCap && { impressions: frequencyCap.impressions, perSeconds: frequencyCap.perSeconds };
  const shown: CampaignFields = { name, budget, dailyBudget, startsAt: toMinute(startsAt), endsAt: toMinute(endsAt), frequencyCap: cap, pacing };
  const changed = Object.entries(fields).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(shown[field as keyof CampaignFields]));
  return Object.fromEntries(changed);
}

// A `datetime-local` field has the local time without a zone.
const instant = (text: string | null) => text && new Date(text).toISOString();
const toMinute = (at: string | null) => instant(localTime(at) || null);

export function localTime(at: string | null | undefined): string {
  if (!at) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
