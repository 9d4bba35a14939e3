//! The one rule of who may be shown: asked by the look before an auction, by promoted statuses, and by whoever wants to know why not.

use crate::base::clock::Millis;
use crate::domains::ads::budget::model::UsedBudget;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::model::{Money, Slot};

/// Why a campaign is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IneligibilityReason {
    /// Its owner holds it back.
    Paused,
    /// Its owner has ended it.
    Stopped,
    /// It has not begun.
    NotStarted,
    /// Its time is over.
    Ended,
    /// What is left of its budget does not pay for any ad of the slot.
    BudgetSpent,
    /// What is left of the day's budget does not.
    DailyBudgetSpent,
    /// It would spend its day's budget faster than evenly.
    Paced,
    /// The visitor has seen enough of it, or cannot be told from others.
    Capped,
    /// It has keywords, and none of these.
    Keywords,
    /// It has ads, none for this slot.
    Slot,
    /// It has no ads; one for a status that is gone is none.
    NoAds,
    /// An operator holds its owner back.
    Suspended,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct EligibilityContext {
    /// When.
    pub now: Millis,
    /// For which slot.
    pub slot: Slot,
    /// Whether the campaign has no keywords, or one of those of the page.
    pub fits: bool,
    /// How often the visitor has seen it within the cap's time; `None` for a visitor that cannot be told from others.
    pub seen: Option<u64>,
}

/// Every reason why a campaign is not shown, in their order; empty when it may be. `ads` are all that it has.
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
