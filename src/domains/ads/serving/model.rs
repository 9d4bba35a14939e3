//! The second price: the next ad in the auction sets the price of an ad.

use crate::domains::ads::model::{Ecpm, Money, Pricing};

/// Returns the second price of an ad: the lowest price with which the ad ranks above the next one, but at most its bid. `own` is the eCPM with
/// which the ad ranked, `next` the eCPM of the next ad; without a next ad the price is the bid. CPM: the next eCPM plus one millionth. CPC:
/// the smallest price in millionths whose eCPM, at the click-through rate from which `own` was computed, is above the next eCPM.
pub fn second_price(pricing: Pricing, bid: Money, own: Ecpm, next: Option<Ecpm>) -> Money {
    let Some(next) = next else { return pricing.price(bid) };
    let most = u128::from(bid.in_millionths());
    let needed = u128::from(next) + 1;
    let price = match pricing {
        Pricing::Cpm => needed,
        Pricing::Cpc => (most * needed).div_ceil(u128::from(own.max(1))),
    };
    pricing.price(Money::millionths(u64::try_from(price.min(most)).unwrap_or(u64::MAX / 1_000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::ads::model::ecpm;

    #[test]
    fn a_second_price_is_between_the_next_bid_and_the_own_bid() {
        let bid = Money::millionths(2_000_000);
        assert_eq!(second_price(Pricing::Cpm, bid, 2_000_000, None), Money(2_000_000));
        assert_eq!(second_price(Pricing::Cpm, bid, 2_000_000, Some(1_500_000)), Money(1_500_001));
        assert_eq!(second_price(Pricing::Cpm, bid, 2_000_000, Some(2_000_000)), Money(2_000_000), "of two that bid the same");
        assert_eq!(second_price(Pricing::Cpc, bid, 20_000_000, Some(10_000_000)), Money(1_000_001_000));
        assert_eq!(second_price(Pricing::Cpc, bid, 20_000_000, Some(0)), Money::millionths(1));
        assert_eq!(second_price(Pricing::Cpc, bid, 20_000_000, Some(20_000_000)), bid);
        assert_eq!(second_price(Pricing::Cpc, bid, 0, Some(0)), bid);
    }

    #[test]
    fn an_ad_at_its_second_price_still_ranks_above_the_next() {
        for (impressions, clicks) in [(0, 0), (900, 3), (10_000, 1), (77, 5)] {
            for bid in [1_000, 70_000, 2_500_000, 9_000_000] {
                let own = ecpm(Pricing::Cpc, Money::millionths(bid), impressions, clicks);
                for part in [0, 1, 3, 9, 10] {
                    let next = own * part / 10;
                    let price = second_price(Pricing::Cpc, Money::millionths(bid), own, Some(next));
                    assert!(price <= Money::millionths(bid));
                    if next < own {
                        assert!(ecpm(Pricing::Cpc, price, impressions, clicks) > next, "{bid} {own} {next} {price}");
                    }
                }
            }
        }
    }
}
