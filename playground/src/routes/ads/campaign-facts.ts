// The properties of a campaign other than its figures.
import type { Fact } from './Facts.tsx';
import type { AdsCampaignFragment } from './fragments/AdsCampaign.generated.ts';
import { money, subtract } from './money.ts';
import { capText, date, pacingText } from './labels.ts';

export function campaignFacts(campaign: AdsCampaignFragment): Fact[] {
  const { budget, spent, dailyBudget, spentToday, leftToday, reserved, startsAt, endsAt, createdAt, frequencyCap, pacing } = campaign;
  return [
    ['Budget', money(budget)],
    ['Spent', money(spent)],
    ['Remaining', money(subtract(subtract(budget, spent), reserved))],
    ['Daily budget', dailyBudget ? money(dailyBudget) : 'no limit'],
    ['Spent today', money(spentToday)],
    ['Reserved for clicks', reserved === '0' ? null : money(reserved)],
    ['Remaining today', leftToday && money(leftToday)],
    ['Starts', startsAt ? date(startsAt) : 'at once'],
    ['Ends', endsAt ? date(endsAt) : 'with its budget'],
    ['Created', date(createdAt)],
    ['Frequency cap', frequencyCap ? capText(frequencyCap) : 'none'],
    ['Pacing', pacingText(pacing)],
  ];
}
