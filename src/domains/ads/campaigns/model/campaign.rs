//! Campaigns and their ads, and what state a campaign is in.

use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::ids::{AdId, CampaignId, StatusId, UserId};
use crate::domains::ads::model::{Money, Pricing, Slot};

/// What a visitor sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Creative {
    /// A text, and where a click leads.
    Snippet {
        /// The text.
        text: String,
        /// The address: http or https.
        target: String,
    },
    /// A status of the advertiser's.
    Status(StatusId),
}

impl Creative {
    /// The status, where it is one.
    pub const fn status(&self) -> Option<StatusId> {
        if let Self::Status(id) = self { Some(*id) } else { None }
    }

    /// Where a click leads; `None` for a status.
    pub fn target(&self) -> Option<&str> {
        if let Self::Snippet { target, .. } = self { Some(target) } else { None }
    }
}

/// An ad: never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ad {
    /// Its id.
    pub id: AdId,
    /// Where it can stand.
    pub slot: Slot,
    /// What is seen.
    pub creative: Creative,
    /// What is paid for.
    pub pricing: Pricing,
    /// The most that is paid: for a thousand impressions, or a click.
    pub bid: Money,
}

impl Ad {
    /// What is taken or held for one impression.
    pub const fn price(&self) -> Money {
        self.pricing.price(self.bid)
    }
}

/// How often one visitor may see a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// So many impressions,
    pub impressions: u64,
    /// in so many seconds from the first one on.
    pub per_seconds: u64,
}

/// How a daily budget is spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Evenly over the day.
    #[default]
    Even,
    /// As fast as possible.
    Asap,
}

/// What state a campaign is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has not begun.
    Scheduled,
    /// It runs.
    Active,
    /// Its owner holds it back.
    Paused,
    /// What is left of its budget pays for none of its ads.
    Exhausted,
    /// Its time is over.
    Ended,
    /// Its owner has ended it.
    Stopped,
}

/// A campaign's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Campaign {
    /// Its id.
    pub id: CampaignId,
    /// Whose it is.
    pub owner: UserId,
    /// Its name.
    pub name: String,
    /// What it may spend in all.
    pub budget: Money,
    /// What it may spend in a day.
    pub daily: Option<Money>,
    /// How it spends that.
    pub pacing: Pacing,
    /// When it begins; `None` for at once.
    pub starts: Option<Millis>,
    /// When it ends; `None` for never.
    pub ends: Option<Millis>,
    /// How often one visitor may see it.
    pub cap: Option<Cap>,
    /// Whether its owner holds it back.
    pub paused: bool,
    /// Whether its owner has ended it.
    pub stopped: bool,
    /// Whether an operator holds its owner back.
    pub suspended: bool,
    /// Into how many shares its money and its visitors are parted.
    pub shares: u64,
    /// Counts every change.
    pub version: u64,
}

/// How far ahead of an even pace a campaign may be.
const SLICE: Millis = MINUTE;

impl Campaign {
    /// When it runs, at the earliest: from its beginning, or its making.
    pub fn from(&self) -> Millis {
        self.starts.unwrap_or(0).max(self.id.time())
    }

    /// What may be spent of the day's budget until `now`; all of it where there is none, up to [`Money`]'s largest.
    ///
    /// At an even pace: the share of the day (of what the campaign has of it) that is over, and a minute.
    pub fn allowed(&self, now: Millis) -> Money {
        let Some(daily) = self.daily else { return Money(u64::MAX) };
        let Some((begins, length)) = self.window(now) else { return daily };
        let over = now.saturating_sub(begins) + SLICE;
        Money((u128::from(daily.0) * u128::from(over) / u128::from(length)).min(u128::from(daily.0)) as u64)
    }

    /// When at least `amount` of the day's budget may have been spent; `None` where that is not before the day is over.
    pub fn allowed_at(&self, amount: Money, now: Millis) -> Option<Millis> {
        let daily = self.daily.filter(|daily| *daily >= amount)?;
        let Some((begins, length)) = self.window(now) else { return Some(now) };
        let after = (u128::from(amount.0) * u128::from(length)).div_ceil(u128::from(daily.0.max(1)));
        let at = begins + (after as Millis).saturating_sub(SLICE);
        (at < (now / DAY + 1) * DAY).then_some(at.max(now))
    }

    /// The part of today over which the day's budget is spread: when it begins, and how long it is. `None` for at once.
    fn window(&self, now: Millis) -> Option<(Millis, Millis)> {
        let today = now / DAY * DAY;
        let (begins, ends) = (today.max(self.from()), (today + DAY).min(self.ends.unwrap_or(Millis::MAX)));
        let length = ends.saturating_sub(begins);
        (self.pacing == Pacing::Even && length > SLICE).then_some((begins, length))
    }

    /// What state it is in; `can_pay` is whether what is left of its budget pays for any of its ads, or it has none.
    pub fn state(&self, now: Millis, can_pay: bool) -> State {
        match self {
            _ if self.stopped => State::Stopped,
            _ if self.ends.is_some_and(|ends| ends <= now) => State::Ended,
            _ if self.paused => State::Paused,
            _ if !can_pay => State::Exhausted,
            _ if self.starts.is_some_and(|starts| starts > now) => State::Scheduled,
            _ => State::Active,
        }
    }
}
