//! The counters of a share or an ad, as Redis stores them.

use crate::domains::ads::model::{InvalidClick, InvalidClicks, Money, Tally};

/// The fields of a tally, in the order of `tally`: impressions, clicks, invalid clicks, invalid impressions, spend, invalid clicks by
/// reason.
pub(in crate::domains::ads) const FIELDS: [&str; 12] =
    ["i", "c", "x", "y", "s", "x-repeated", "x-late", "x-impression", "x-visitor", "x-address", "x-campaign", "x-website"];

/// Returns the tally of the values of `FIELDS`; a missing value is 0.
pub(in crate::domains::ads) fn tally(numbers: &[Option<u64>]) -> Tally {
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or(0);
    Tally {
        impressions: number(0),
        clicks: number(1),
        invalid: number(2),
        invalid_impressions: number(3),
        spent: Money(number(4)),
        reasons: InvalidClicks::new(|reason: InvalidClick| number(5 + reason as usize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_field() {
        for reason in InvalidClick::ALL {
            assert_eq!(FIELDS[5 + reason as usize], format!("x-{}", reason.name()));
        }
        assert_eq!(FIELDS.len(), 5 + InvalidClick::ALL.len());
    }
}
