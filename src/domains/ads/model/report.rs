//! What has become of money and ads: plain numbers.

use super::{InvalidClicks, Money, Taken};
use crate::base::ids::{AdId, CampaignId};
use std::ops::RangeInclusive;

/// What a share has in hand, and what it has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purse {
    /// The day, counted from 1970, that it last did something on.
    pub day: u64,
    /// What it has spent.
    pub spent: Money,
    /// What waits for clicks.
    pub held: Money,
    /// What was reserved on `day`: spent, or waits for clicks.
    pub used: Money,
    /// What it has come to in all. Its spend is `spent`.
    pub tally: Tally,
}

impl Purse {
    /// What was reserved on this day.
    pub const fn used_on(&self, day: u64) -> Money {
        if self.day >= day { self.used } else { Money(0) }
    }

    /// What several shares have used.
    pub(in crate::domains::ads) fn taken(all: &[Self], day: u64) -> Taken {
        let sum = |of: fn(&Self) -> u64| Money(all.iter().map(of).sum());
        let today = all.iter().map(|purse| purse.used_on(day).0).sum();
        Taken { whole: sum(|purse| purse.spent.0 + purse.held.0), today: Money(today) }
    }

    /// What several shares have come to in all.
    pub(in crate::domains::ads) fn whole(all: &[Self]) -> Tally {
        all.iter().fold(Tally::default(), |sum, purse| sum.and(Tally { spent: purse.spent, ..purse.tally }))
    }
}

/// What a campaign or an ad has come to, on a day or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Impressions.
    pub impressions: u64,
    /// Clicks that counted.
    pub clicks: u64,
    /// Clicks that did not.
    pub invalid: u64,
    /// The same by reason. Those from before reasons were kept have none.
    pub reasons: InvalidClicks,
    /// Impressions that did not count.
    pub invalid_impressions: u64,
    /// What it cost.
    pub spent: Money,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            impressions: self.impressions + other.impressions,
            clicks: self.clicks + other.clicks,
            invalid: self.invalid + other.invalid,
            reasons: self.reasons.and(other.reasons),
            invalid_impressions: self.invalid_impressions + other.invalid_impressions,
            spent: Money(self.spent.0 + other.spent.0),
        }
    }

    /// The clicks of an impression; 0 without impressions.
    pub fn ctr(&self) -> f64 {
        ctr(self.impressions, self.clicks)
    }

    /// What a thousand impressions have cost, in whole millionths, rounded down; 0 without impressions.
    pub fn ecpm(&self) -> Money {
        let thousand = u128::from(self.spent.0) * 1_000;
        let each = thousand.checked_div(u128::from(self.impressions)).unwrap_or(0);
        Money::millionths(u64::try_from(each / 1_000).unwrap_or(u64::MAX / 1_000))
    }
}

/// Whose days are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// A campaign's.
    Campaign(CampaignId),
    /// An ad's.
    Ad(AdId),
}

/// Days of a campaign that has so many shares, or of one of its ads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Whose they are.
    pub of: Counted,
    /// The campaign's shares.
    pub shares: u64,
    /// Which, counted from 1970.
    pub days: RangeInclusive<u64>,
}

/// The visitors of a campaign that has so many shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Visitors {
    /// The campaign.
    pub of: CampaignId,
    /// Its shares.
    pub shares: u64,
    /// Of which day, counted from 1970; `None` for all of them.
    pub day: Option<u64>,
}

/// The clicks of an impression; 0 without impressions.
pub fn ctr(impressions: u64, clicks: u64) -> f64 {
    if impressions == 0 { 0.0 } else { clicks as f64 / impressions as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_of_another_day_is_not_of_today() {
        let purse = Purse { spent: Money(5), held: Money(2), used: Money(4), day: 9, ..Purse::default() };
        let taken = Purse::taken(&[purse, Purse { day: 8, ..purse }], 9);
        assert_eq!(taken, Taken { whole: Money(14), today: Money(4) });
    }

    #[test]
    fn a_report_divides_by_no_zero() {
        let nothing = Tally::default();
        assert_eq!((nothing.ctr(), nothing.ecpm()), (0.0, Money(0)));
        let some = Tally { impressions: 3, clicks: 1, spent: Money(1_000_000), ..nothing };
        assert_eq!(some.ecpm(), Money(333_333_000));
    }
}
