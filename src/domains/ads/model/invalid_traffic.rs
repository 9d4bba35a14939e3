//! Invalid traffic: clicks and impressions that do not count and cost nothing.
//!
//! The names follow the "Invalid Traffic Detection and Filtration Standards Addendum" of the Media Rating Council (2020): traffic that exceeds a
//! plausible rate is *general invalid traffic*, and is filtered before anything is billed.

use crate::base::clock::{MINUTE, Millis};

/// The time in which the clicks and impressions of an address or a website are counted together.
pub(in crate::domains::ads) const TRAFFIC_WINDOW: Millis = 60 * MINUTE;
/// How many times its hourly mean a website may have in an hour.
pub(in crate::domains::ads) const TRAFFIC_FACTOR: u64 = 10;
/// Over how many hours the mean is taken: a week. It is an exponential moving average, so that it takes two numbers.
pub(in crate::domains::ads) const TRAFFIC_HOURS: u64 = 168;

/// Why a click does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidClick {
    /// The impression was clicked before.
    Repeated,
    /// It came later than an hour.
    Late,
    /// The impression itself was invalid.
    Impression,
    /// The visitor clicks too often.
    Visitor,
    /// Too many clicks of the address.
    Address,
    /// Too many clicks of the address on ads of the campaign.
    Campaign,
    /// Too many clicks on the website.
    Website,
}

impl InvalidClick {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 7] =
        [Self::Repeated, Self::Late, Self::Impression, Self::Visitor, Self::Address, Self::Campaign, Self::Website];

    /// Its name, in fields and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repeated => "repeated",
            Self::Late => "late",
            Self::Impression => "impression",
            Self::Visitor => "visitor",
            Self::Address => "address",
            Self::Campaign => "campaign",
            Self::Website => "website",
        }
    }
}

/// Invalid clicks by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvalidClicks([u64; InvalidClick::ALL.len()]);

impl InvalidClicks {
    /// As many as `of` says.
    pub fn new(of: impl Fn(InvalidClick) -> u64) -> Self {
        Self(InvalidClick::ALL.map(of))
    }

    /// How many have this reason.
    pub const fn of(self, reason: InvalidClick) -> u64 {
        self.0[reason as usize]
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(|reason| self.of(reason) + other.of(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_each_for_itself() {
        let one = InvalidClicks::new(|reason| reason as u64 + 1);
        let both = one.and(InvalidClicks::new(|reason| u64::from(reason == InvalidClick::Late)));
        assert_eq!(InvalidClick::ALL.map(|reason| both.of(reason)), [1, 3, 3, 4, 5, 6, 7]);
    }
}
