//! The eligibility rule: auctions, promoted statuses and explanations share it.

use crate::base::clock::Millis;
use crate::base::named::named_enum;
use crate::domains::ads::budget::model::CommittedBudget;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::model::{Money, Slot};

named_enum! {
    /// Reason why a campaign is not eligible. Reasons may be added.
    pub enum IneligibilityReason {
        /// The campaign is paused.
        Paused = "paused",
        /// The campaign was stopped.
        Stopped = "stopped",
        /// The campaign has not started.
        NotStarted = "not_started",
        /// The campaign has ended.
        Ended = "ended",
        /// The remaining budget does not pay for any of its ads in this slot.
        BudgetSpent = "budget_spent",
        /// The remaining daily budget does not pay for any of its ads in this slot.
        DailyBudgetSpent = "daily_budget_spent",
        /// Pacing: the campaign is ahead of its daily budget's schedule.
        Paced = "paced",
        /// The frequency cap is reached for the visitor, or the campaign has a frequency cap and the request has no `visitorId`. Not evaluated
        /// for the slot `IN_FEED`, whose caps count by account.
        Capped = "capped",
        /// The page has none of the campaign's keywords.
        Keywords = "keywords",
        /// The campaign has no ad for the slot.
        Slot = "slot",
        /// The campaign has no ads. An ad whose status was deleted or is not public does not count.
        NoAds = "no_ads",
        /// The advertiser is suspended.
        Suspended = "suspended",
    }
}

/// The request for which eligibility is checked.
#[derive(Clone, Copy, Debug)]
pub struct EligibilityContext {
    /// The time of the request.
    pub now: Millis,
    /// The slot of the request.
    pub slot: Slot,
    /// Whether the campaign has no keywords, or shares one with the page.
    pub keywords_match: bool,
    /// The number of impressions of the campaign to the visitor within the cap's period; `None` for an unknown visitor.
    pub visitor_impressions: Option<u64>,
}

/// Returns every reason against a campaign, in the order of the enum; empty if the campaign is eligible. `ads` are all ads of the campaign. If `ads`
/// contains only the ads of the slot, a campaign without an ad in the slot has the reason `NoAds` instead of `Slot`.
pub fn reasons_against(
    campaign: &Campaign,
    ads: &[&Ad],
    committed: CommittedBudget,
    context: EligibilityContext,
) -> Vec<IneligibilityReason> {
    let here = || ads.iter().filter(|ad| ad.slot == context.slot);
    let cheapest = here().map(|ad| ad.price()).min().unwrap_or_default();
    let remaining = |budget: Money, committed: Money| Money(budget.0.saturating_sub(committed.0));
    let lacks = |budget: Money, committed: Money| here().next().is_some() && remaining(budget, committed) < cheapest;
    let daily = campaign.daily.is_some_and(|daily| lacks(daily, committed.today));
    let capped = campaign.cap.is_some_and(|cap| context.visitor_impressions.is_none_or(|seen| seen >= cap.impressions));
    let rules = [
        (IneligibilityReason::Paused, campaign.paused),
        (IneligibilityReason::Stopped, campaign.stopped),
        (IneligibilityReason::NotStarted, campaign.starts.is_some_and(|starts| starts > context.now)),
        (IneligibilityReason::Ended, campaign.ends.is_some_and(|ends| ends <= context.now)),
        (IneligibilityReason::BudgetSpent, lacks(campaign.budget, committed.whole)),
        (IneligibilityReason::DailyBudgetSpent, daily),
        (IneligibilityReason::Paced, !daily && lacks(campaign.daily_allowance(context.now), committed.today)),
        (IneligibilityReason::Capped, capped),
        (IneligibilityReason::Keywords, !context.keywords_match),
        (IneligibilityReason::Slot, !ads.is_empty() && here().next().is_none()),
        (IneligibilityReason::NoAds, ads.is_empty()),
        (IneligibilityReason::Suspended, campaign.suspended),
    ];
    rules.into_iter().filter(|(_, holds)| *holds).map(|(reason, _)| reason).collect()
}
