//! The pricing of ads, and their expected price.

use crate::base::named::named_enum;
use crate::domains::ads::model::Money;

named_enum! {
    /// Pricing model.
    pub enum Pricing {
        /// Cost per thousand impressions. Each impression costs a thousandth of the bid or, in a second-price auction, at most that.
        Cpm = "CPM",
        /// Cost per click. The price, at most the bid, is reserved at the impression and released if nobody clicks within an hour.
        Cpc = "CPC",
    }
}

impl Pricing {
    /// Returns the money that one impression at this bid charges or reserves.
    pub const fn price(self, bid: Money) -> Money {
        match self {
            Self::Cpm => Money(bid.in_millionths()),
            Self::Cpc => bid,
        }
    }
}

/// The effective cost per mille, which orders ads: the expected price of a thousand impressions, in millionths.
pub type Ecpm = u64;

/// Returns the eCPM of an ad, rounded down. CPM: the bid. CPC: the bid times a thousand times the click-through rate. The rate is computed
/// as if there had been a hundred more impressions with one click: a Beta(1, 99) prior, which starts a new ad at 1 % with the weight of a
/// hundred impressions.
pub fn ecpm(pricing: Pricing, bid: Money, impressions: u64, clicks: u64) -> Ecpm {
    let bid = bid.in_millionths();
    match pricing {
        Pricing::Cpm => bid,
        Pricing::Cpc => {
            let (bid, clicks, shown) = (u128::from(bid), u128::from(clicks), u128::from(impressions));
            // There is no click without an impression, so the rate is at most 1.
            let clicks = (clicks + 1).min(shown + 100);
            Ecpm::try_from(bid * 1_000 * clicks / (shown + 100)).unwrap_or(Ecpm::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::ads::model::MAX_MONEY;

    #[test]
    fn ecpm_starts_at_one_percent_and_follows_the_click_through_rate() {
        let bid = Money::millionths(500_000);
        assert_eq!(ecpm(Pricing::Cpm, bid, 7, 7), 500_000);
        assert_eq!(ecpm(Pricing::Cpc, bid, 0, 0), 5_000_000);
        assert_eq!(ecpm(Pricing::Cpc, bid, 900, 0), 500_000);
        assert_eq!(ecpm(Pricing::Cpc, bid, 900, 99), 50_000_000);
        assert_eq!(ecpm(Pricing::Cpc, Money::millionths(1), 1, 0), 9, "rounded down");
        assert!(ecpm(Pricing::Cpc, Money::millionths(MAX_MONEY * 1_000_000), 0, 0) < 1 << 53);
        assert!(ecpm(Pricing::Cpc, Money::millionths(MAX_MONEY * 1_000_000), 1, 1_000) <= MAX_MONEY * 1_000_000 * 1_000);
    }
}
