//! The eligibility rule: auctions, promoted statuses and explanations share it.

use crate::base::clock::Millis;
use crate::domains::ads::budget::model::UsedBudget;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::model::{Money, Slot};

/// A reason why a campaign is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IneligibilityReason {
    /// The owner has paused the campaign.
    Paused,
    /// The owner has stopped the campaign.
    Stopped,
    /// The campaign has not started.
    NotStarted,
    /// The campaign has ended.
    Ended,
    /// The rest of the budget does not pay for any ad of the slot.
    BudgetSpent,
    /// The rest of the daily budget does not pay for any ad of the slot.
    DailyBudgetSpent,
    /// The campaign is ahead of its even pacing.
    Paced,
    /// The visitor has reached the campaign's frequency cap, or the campaign has a cap and the visitor is unknown.
    Capped,
    /// The campaign has keywords, and the page has none of them.
    Keywords,
    /// The campaign has ads, but none for this slot.
    Slot,
    /// The campaign has no ads. An ad for a deleted status does not count.
    NoAds,
    /// An operator has suspended the owner.
    Suspended,
}

/// The request for which eligibility is checked.
#[derive(Clone, Copy, Debug)]
pub struct EligibilityContext {
    /// The time of the request.
    pub now: Millis,
    /// The slot of the request.
    pub slot: Slot,
    /// Whether the campaign has no keywords, or shares one with the page.
    pub fits: bool,
    /// How often the visitor has seen the campaign within the cap's period; `None` for an unknown visitor.
    pub seen: Option<u64>,
}

/// Returns every reason against a campaign, in the order of the enum; empty if the campaign is eligible. `ads` are all ads of the campaign.
pub fn reasons_against(
    campaign: &Campaign,
    ads: &[&Ad],
    taken: UsedBudget,
    asked: EligibilityContext,
) -> Vec<IneligibilityReason> {
    let here = || ads.iter().filter(|ad| ad.slot == asked.slot);
    let cheapest = here().map(|ad| ad.price()).min().unwrap_or_default();
    let left = |of: Money, taken: Money| Money(of.0.saturating_sub(taken.0));
    let lacks = |of: Money, taken: Money| here().next().is_some() && left(of, taken) < cheapest;
    let daily = campaign.daily.is_some_and(|daily| lacks(daily, taken.today));
    let capped = campaign.cap.is_some_and(|cap| asked.seen.is_none_or(|seen| seen >= cap.impressions));
    let rules = [
        (IneligibilityReason::Paused, campaign.paused),
        (IneligibilityReason::Stopped, campaign.stopped),
        (IneligibilityReason::NotStarted, campaign.starts.is_some_and(|starts| starts > asked.now)),
        (IneligibilityReason::Ended, campaign.ends.is_some_and(|ends| ends <= asked.now)),
        (IneligibilityReason::BudgetSpent, lacks(campaign.budget, taken.whole)),
        (IneligibilityReason::DailyBudgetSpent, daily),
        (IneligibilityReason::Paced, !daily && lacks(campaign.allowed(asked.now), taken.today)),
        (IneligibilityReason::Capped, capped),
        (IneligibilityReason::Keywords, !asked.fits),
        (IneligibilityReason::Slot, !ads.is_empty() && here().next().is_none()),
        (IneligibilityReason::NoAds, ads.is_empty()),
        (IneligibilityReason::Suspended, campaign.suspended),
    ];
    rules.into_iter().filter(|(_, holds)| *holds).map(|(reason, _)| reason).collect()
}
