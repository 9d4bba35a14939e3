//! Tallies: counts and spend of campaigns and ads.

use crate::domains::ads::model::{InvalidClicks, Money};

/// The counts and the spend of a campaign or an ad, on a day or in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Impressions.
    pub impressions: u64,
    /// Clicks that counted.
    pub clicks: u64,
    /// Invalid clicks.
    pub invalid: u64,
    /// Invalid clicks by reason. Older clicks have no reason.
    pub reasons: InvalidClicks,
    /// Invalid impressions.
    pub invalid_impressions: u64,
    /// The money spent.
    pub spent: Money,
}

impl Tally {
    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            impressions: self.impressions + other.impressions,
            clicks: self.clicks + other.clicks,
            invalid: self.invalid + other.invalid,
            reasons: self.reasons.plus(other.reasons),
            invalid_impressions: self.invalid_impressions + other.invalid_impressions,
            spent: Money(self.spent.0 + other.spent.0),
        }
    }

    /// Returns the click-through rate: clicks for each impression; 0 without impressions.
    pub fn ctr(&self) -> f64 {
        ctr(self.impressions, self.clicks)
    }

    /// Returns the cost of a thousand impressions, in whole millionths, rounded down; 0 without impressions.
    pub fn ecpm(&self) -> Money {
        let thousand = u128::from(self.spent.0) * 1_000;
        let each = thousand.checked_div(u128::from(self.impressions)).unwrap_or(0);
        Money::millionths(u64::try_from(each / 1_000).unwrap_or(u64::MAX / 1_000))
    }
}

/// Returns the click-through rate: clicks for each impression; 0 without impressions.
pub fn ctr(impressions: u64, clicks: u64) -> f64 {
    if impressions == 0 { 0.0 } else { clicks as f64 / impressions as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_without_impressions_are_zero() {
        let nothing = Tally::default();
        assert_eq!((nothing.ctr(), nothing.ecpm()), (0.0, Money(0)));
        let some = Tally { impressions: 3, clicks: 1, spent: Money(1_000_000), ..nothing };
        assert_eq!(some.ecpm(), Money(333_333_000));
    }
}
