//! Campaigns and their ads, and the state of a campaign.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::ids::{AdId, CampaignId, StatusId, UserId};
use crate::base::named::named_enum;
use crate::domains::ads::model::{Money, Pricing, Slot};

/// The content of an ad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creative {
    /// A text with a destination URL.
    Snippet {
        /// The text.
        text: String,
        /// The destination URL: http or https.
        target: String,
    },
    /// A status of the advertiser.
    Status(StatusId),
}

impl Creative {
    /// Returns the status of a promotion.
    pub const fn status(&self) -> Option<StatusId> {
        if let Self::Status(id) = self { Some(*id) } else { None }
    }

    /// Returns the destination URL; `None` for a status.
    pub fn target(&self) -> Option<&str> {
        if let Self::Snippet { target, .. } = self { Some(target) } else { None }
    }
}

/// An ad. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ad {
    /// Its id.
    pub id: AdId,
    /// The slot of the ad.
    pub slot: Slot,
    /// The content of the ad.
    pub creative: Creative,
    /// The pricing.
    pub pricing: Pricing,
    /// The maximum price of a thousand impressions, or of a click.
    pub bid: Money,
}

impl Ad {
    /// Returns the money that one impression charges or holds.
    pub const fn price(&self) -> Money {
        self.pricing.price(self.bid)
    }
}

/// A frequency cap: how often one visitor can see a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// Maximum number of impressions.
    pub impressions: u64,
    /// The period in seconds, from the first impression on.
    pub per_seconds: u64,
}

named_enum! {
    /// Pacing of the daily budget.
    pub enum Pacing {
        /// Evenly over the UTC day, or over the part of it in which the campaign runs. Spending is at most one minute ahead of the schedule.
        Even = "EVEN",
        /// As fast as possible.
        Asap = "ASAP",
    } default Even
}

named_enum! {
    /// State of a campaign. If several apply, the first of: STOPPED, ENDED, PAUSED, EXHAUSTED, SCHEDULED, ACTIVE.
    pub enum CampaignState {
        /// The campaign has not started.
        Scheduled = "scheduled",
        /// None of the other states applies. The campaign may still show no ads: if it has none, if its daily budget is spent, or if its owner is
        /// suspended, for example. `explainAd` returns the reasons.
        Active = "active",
        /// The owner has paused the campaign.
        Paused = "paused",
        /// The remaining budget does not pay for any of its ads. A larger budget makes the campaign run again.
        Exhausted = "exhausted",
        /// The end of the campaign has passed.
        Ended = "ended",
        /// The owner has stopped the campaign permanently.
        Stopped = "stopped",
    }
}

/// A campaign's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Its id.
    pub id: CampaignId,
    /// The owner.
    pub owner: UserId,
    /// Its name.
    pub name: String,
    /// The total budget.
    pub budget: Money,
    /// The daily budget.
    pub daily: Option<Money>,
    /// The pacing of the daily budget.
    pub pacing: Pacing,
    /// The start; `None` for at once.
    pub starts: Option<Millis>,
    /// The end; `None` for never.
    pub ends: Option<Millis>,
    /// The frequency cap.
    pub cap: Option<Cap>,
    /// Whether the owner has paused the campaign.
    pub paused: bool,
    /// Whether the owner has stopped the campaign.
    pub stopped: bool,
    /// Whether an operator has suspended the owner.
    pub suspended: bool,
    /// The number of shares of the campaign.
    pub shares: u64,
    /// The version, which every change increments.
    pub version: u64,
}

/// The time by which a campaign can be ahead of its even pacing.
const MAX_PACING_LEAD: Millis = MINUTE;

impl Campaign {
    /// Returns the earliest time at which the campaign is active: its start, or its creation if that is later.
    pub fn active_from(&self) -> Millis {
        self.starts.unwrap_or(0).max(self.id.time())
    }

    /// Returns how much of the daily budget can be spent until `now`; the largest `Money` without a daily budget.
    ///
    /// With even pacing: the elapsed part of the campaign's time in this day, and a minute more.
    pub fn daily_allowance(&self, now: Millis) -> Money {
        let Some(daily) = self.daily else { return Money(u64::MAX) };
        let Some((begins, length)) = self.window(now) else { return daily };
        let over = now.saturating_sub(begins) + MAX_PACING_LEAD;
        Money((u128::from(daily.0) * u128::from(over) / u128::from(length)).min(u128::from(daily.0)) as u64)
    }

    /// Returns when at least `amount` of the daily budget can be spent; `None` if that is not before the end of the day, and without a daily budget.
    pub fn allowance_reached_at(&self, amount: Money, now: Millis) -> Option<Millis> {
        let daily = self.daily.filter(|daily| *daily >= amount)?;
        let Some((begins, length)) = self.window(now) else { return Some(now) };
        let after = (u128::from(amount.0) * u128::from(length)).div_ceil(u128::from(daily.0.max(1)));
        let at = begins + (after as Millis).saturating_sub(MAX_PACING_LEAD);
        (at < (now / DAY + 1) * DAY).then_some(at.max(now))
    }

    /// Returns the part of today over which the daily budget is spread: its start and its length. `None` if the budget is not spread.
    fn window(&self, now: Millis) -> Option<(Millis, Millis)> {
        let today = now / DAY * DAY;
        let (begins, ends) = (today.max(self.active_from()), (today + DAY).min(self.ends.unwrap_or(Millis::MAX)));
        let length = ends.saturating_sub(begins);
        (self.pacing == Pacing::Even && length > MAX_PACING_LEAD).then_some((begins, length))
    }

    /// Returns the state. `can_pay` is whether the rest of the budget pays for any ad, or the campaign has no ads.
    pub fn state(&self, now: Millis, can_pay: bool) -> CampaignState {
        match self {
            _ if self.stopped => CampaignState::Stopped,
            _ if self.ends.is_some_and(|ends| ends <= now) => CampaignState::Ended,
            _ if self.paused => CampaignState::Paused,
            _ if !can_pay => CampaignState::Exhausted,
            _ if self.starts.is_some_and(|starts| starts > now) => CampaignState::Scheduled,
            _ => CampaignState::Active,
        }
    }
}
