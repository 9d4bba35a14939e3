//! The plan of a campaign: the listings that contain it, and the time of its next evaluation.

use crate::base::clock::{DAY, Millis};
use crate::domains::ads::budget::model::CommittedBudget;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::model::ecpm;
use crate::domains::ads::model::{CPC_EVALUATION_PERIOD, Ecpm, Money, Pricing, Slot, Tally};

/// The inputs of a listing plan.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct ListingInputs {
    pub(in crate::domains::ads) campaign: Campaign,
    pub(in crate::domains::ads) keywords: Vec<String>,
    /// Each ad with its tally over all shares.
    pub(in crate::domains::ads) ads: Vec<(Ad, Tally)>,
    pub(in crate::domains::ads) committed: CommittedBudget,
    /// When the first hold expires.
    pub(in crate::domains::ads) first_hold: Option<Millis>,
}

/// The planned listings of a campaign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct ListingPlan {
    /// The slots, each with the eCPM of the best ad that the campaign can pay for.
    pub(in crate::domains::ads) offers: Vec<(Slot, Ecpm)>,
    /// The time of the next evaluation; `None` for never.
    pub(in crate::domains::ads) next_evaluation: Option<Millis>,
}

impl ListingPlan {
    /// Whether the writes of this plan are enough for a later plan, `other`. The slots must be the same; the eCPM may differ, because it changes
    /// continuously.
    pub(in crate::domains::ads) fn covers(&self, other: &Self) -> bool {
        let slots = |plan: &Self| plan.offers.iter().map(|(slot, _)| *slot).collect::<Vec<_>>();
        slots(self) == slots(other) && other.next_evaluation.is_none_or(|at| self.next_evaluation.is_some_and(|own| own <= at))
    }
}

impl ListingInputs {
    /// Returns the eCPM of an ad.
    pub(in crate::domains::ads) fn ecpm((ad, counts): &(Ad, Tally)) -> Ecpm {
        ecpm(ad.pricing, ad.bid, counts.impressions, counts.clicks)
    }

    /// Whether the campaign is active, regardless of its money.
    fn is_active(&self, now: Millis) -> bool {
        let it = &self.campaign;
        let over = it.ends.is_some_and(|ends| ends <= now);
        let begun = it.starts.is_none_or(|starts| starts <= now);
        begun && !over && !it.stopped && !it.paused && !it.suspended
    }

    /// Checks that the campaign can pay for an ad now. Fails with the time at which this may change; `None` if the total budget does not pay for the
    /// ad.
    fn check_funds(&self, price: Money, now: Millis) -> Result<(), Option<Millis>> {
        let (it, committed) = (&self.campaign, self.committed);
        let midnight = Some((now / DAY + 1) * DAY);
        if it.budget.saturating_sub(committed.whole) < price {
            return Err(None);
        }
        if it.daily.is_some_and(|daily| daily.saturating_sub(committed.today) < price) {
            return Err(midnight);
        }
        if it.daily_allowance(now).saturating_sub(committed.today) < price {
            let enough = Money(committed.today.0 + price.0);
            return Err(it.allowance_reached_at(enough, now).map(|at| at.max(now + 1)).or(midnight));
        }
        Ok(())
    }
}

/// Plans the listings of a campaign now. The next evaluation is when the campaign starts or ends, when the daily budget allows an ad that
/// is too expensive now, or when a hold expires; within [`CPC_EVALUATION_PERIOD`] while the campaign is active and has a CPC ad; and within
/// a day in any case. A campaign that has ended or was stopped is evaluated again only when a hold expires.
pub(in crate::domains::ads) fn plan(facts: &ListingInputs, now: Millis) -> ListingPlan {
    let it = &facts.campaign;
    if it.stopped || it.ends.is_some_and(|ends| ends <= now) {
        return ListingPlan { offers: Vec::new(), next_evaluation: facts.first_hold };
    }
    let mut at = now + DAY;
    let mut sooner = |time: Option<Millis>| at = at.min(time.unwrap_or(at));
    sooner(it.ends);
    sooner(it.starts.filter(|starts| *starts > now));
    sooner(facts.first_hold);
    let mut offers: Vec<(Slot, Ecpm)> = Vec::new();
    for entry in facts.ads.iter().filter(|_| facts.is_active(now)) {
        let ad = &entry.0;
        if ad.pricing == Pricing::Cpc {
            sooner(Some(now + CPC_EVALUATION_PERIOD));
        }
        match facts.check_funds(ad.price(), now) {
            Ok(()) => offers.push((ad.slot, ListingInputs::ecpm(entry))),
            Err(when) => sooner(when),
        }
    }
    offers.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
    offers.dedup_by_key(|(slot, _)| *slot);
    ListingPlan { offers, next_evaluation: Some(at) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::MINUTE;
    use crate::base::ids::{AdId, CampaignId, StatusId, UserId, source};
    use crate::domains::ads::campaigns::model::{Creative, Pacing};

    const NOON: Millis = 1_772_323_200_000 + DAY / 2;

    fn ad(slot: Slot, pricing: Pricing, millionths: u64) -> (Ad, Tally) {
        let id = AdId { campaign: CampaignId(7), number: millionths };
        let (creative, bid) = (Creative::Status(StatusId(1)), Money::millionths(millionths));
        (Ad { id, slot, creative, pricing, bid }, Tally::default())
    }

    fn facts(budget: u64, ads: Vec<(Ad, Tally)>) -> ListingInputs {
        let campaign = Campaign {
            id: CampaignId(source::compose(NOON - 30 * DAY, 1, 1)),
            owner: UserId(1),
            name: "x".into(),
            budget: Money(budget),
            daily: None,
            pacing: Pacing::Even,
            starts: None,
            ends: None,
            cap: None,
            paused: false,
            stopped: false,
            suspended: false,
            shares: 1,
            version: 1,
        };
        ListingInputs { campaign, keywords: Vec::new(), ads, committed: CommittedBudget::default(), first_hold: None }
    }

    #[test]
    fn a_campaign_is_listed_at_its_best_affordable_ad() {
        let ads = || {
            vec![ad(Slot::Banner, Pricing::Cpm, 300), ad(Slot::Banner, Pricing::Cpm, 900), ad(Slot::Square, Pricing::Cpm, 500)]
        };
        assert_eq!(plan(&facts(5_000, ads()), NOON).offers, [(Slot::Banner, 900), (Slot::Square, 500)]);
        assert_eq!(plan(&facts(899, ads()), NOON).offers, [(Slot::Banner, 300), (Slot::Square, 500)]);
        assert_eq!(plan(&facts(400, ads()), NOON).offers, [(Slot::Banner, 300)]);
        assert_eq!(plan(&facts(299, ads()), NOON), ListingPlan { offers: vec![], next_evaluation: Some(NOON + DAY) });
        let hold = ListingInputs { first_hold: Some(NOON + 9), ..facts(299, ads()) };
        assert_eq!(plan(&hold, NOON).next_evaluation, Some(NOON + 9));
    }

    #[test]
    fn an_inactive_or_suspended_campaign_is_not_listed() {
        let with = |change: fn(&mut Campaign)| {
            let mut facts = facts(5_000, vec![ad(Slot::Banner, Pricing::Cpc, 1)]);
            change(&mut facts.campaign);
            plan(&facts, NOON)
        };
        assert_eq!(with(|_| ()).next_evaluation, Some(NOON + CPC_EVALUATION_PERIOD));
        assert_eq!(with(|it| it.starts = Some(NOON + 5)), ListingPlan { offers: vec![], next_evaluation: Some(NOON + 5) });
        assert_eq!(with(|it| it.starts = Some(NOON)).offers.len(), 1);
        assert_eq!(with(|it| it.ends = Some(NOON + 5)).next_evaluation, Some(NOON + 5));
        assert_eq!(with(|it| it.ends = Some(NOON)), ListingPlan::default());
        assert_eq!(with(|it| it.stopped = true), ListingPlan::default());
        assert_eq!(with(|it| it.paused = true), ListingPlan { offers: vec![], next_evaluation: Some(NOON + DAY) });
        assert_eq!(with(|it| it.suspended = true).offers, []);
    }

    #[test]
    fn an_exhausted_daily_budget_schedules_the_next_evaluation() {
        let committed = |today: u64, pacing| {
            let mut facts = facts(90_000_000, vec![ad(Slot::Banner, Pricing::Cpm, 1_000)]);
            (facts.campaign.daily, facts.campaign.pacing) = (Some(Money(1_440_000)), pacing);
            facts.committed = CommittedBudget { whole: Money(today), today: Money(today) };
            plan(&facts, NOON)
        };
        assert_eq!(committed(1_439_001, Pacing::Asap), ListingPlan { offers: vec![], next_evaluation: Some(NOON + DAY / 2) });
        assert_eq!(committed(1_439_000, Pacing::Asap).offers.len(), 1);
        // Half of the day and a minute: 721,000 of the day's 1,440,000.
        assert_eq!(committed(720_000, Pacing::Even).offers.len(), 1);
        assert_eq!(committed(721_000, Pacing::Even), ListingPlan { offers: vec![], next_evaluation: Some(NOON + MINUTE) });
        assert_eq!(committed(720_001, Pacing::Even), ListingPlan { offers: vec![], next_evaluation: Some(NOON + 60) });
    }

    #[test]
    fn an_evaluation_covers_requests_up_to_its_time() {
        let plan = |slot, at| ListingPlan { offers: vec![(slot, 5)], next_evaluation: at };
        let done = plan(Slot::Banner, Some(9));
        assert!(done.covers(&ListingPlan { offers: vec![(Slot::Banner, 6)], next_evaluation: Some(10) }));
        assert!(!done.covers(&plan(Slot::Banner, Some(8))) && !done.covers(&plan(Slot::Square, Some(9))));
        assert!(
            !ListingPlan { next_evaluation: None, ..done.clone() }.covers(&done)
                && done.covers(&ListingPlan { next_evaluation: None, ..done.clone() })
        );
    }
}
