//! Invalid traffic: clicks and impressions that do not count and cost nothing.
//!
//! The names follow the "Invalid Traffic Detection and Filtration Standards Addendum" of the Media Rating Council (2020): traffic that exceeds a
//! plausible rate is *general invalid traffic*, and is filtered before anything is billed.

use crate::base::clock::{MINUTE, Millis};
use crate::base::named::named_enum;

/// The period over which the clicks and impressions of an address or a website are counted.
pub(in crate::domains::ads) const TRAFFIC_WINDOW: Millis = 60 * MINUTE;
/// The factor by which the traffic of an hour may exceed the hourly mean of a website.
pub(in crate::domains::ads) const TRAFFIC_FACTOR: u64 = 10;
/// The hours over which the mean is taken: a week. The mean is an exponential moving average, which needs only two numbers.
pub(in crate::domains::ads) const TRAFFIC_HOURS: u64 = 168;

named_enum! {
    /// Reason why a click is invalid.
    pub enum InvalidClick {
        /// The impression was clicked before, or the impression of the promoted status was not reported.
        Repeated = "repeated",
        /// The click came more than an hour after the impression.
        Late = "late",
        /// The impression itself is invalid.
        Impression = "impression",
        /// The visitor clicked more than ten times in a minute.
        Visitor = "visitor",
        /// Too many clicks from one IP address.
        Address = "address",
        /// Too many clicks from one IP address on ads of the campaign; or no budget was reserved for the click and none is available.
        Campaign = "campaign",
        /// Too many clicks on the website in an hour: more than the server's minimum limit, and more than ten times the website's hourly mean of the past
        /// week.
        Website = "website",
    }
}

/// Invalid clicks by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InvalidClicks([u64; InvalidClick::ALL.len()]);

impl InvalidClicks {
    /// Creates the counts from a function that returns the count of each reason.
    pub fn new(count: impl Fn(InvalidClick) -> u64) -> Self {
        Self(InvalidClick::ALL.map(count))
    }

    /// Returns the number of clicks with this reason.
    pub const fn of(self, reason: InvalidClick) -> u64 {
        self.0[reason as usize]
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::new(|reason| self.of(reason) + other.of(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_own_count() {
        let one = InvalidClicks::new(|reason| reason as u64 + 1);
        let both = one.plus(InvalidClicks::new(|reason| u64::from(reason == InvalidClick::Late)));
        assert_eq!(InvalidClick::ALL.map(|reason| both.of(reason)), [1, 3, 3, 4, 5, 6, 7]);
    }
}
