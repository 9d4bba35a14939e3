//! Money, and the eCPM that orders ads. All values are whole numbers.

use crate::domains::ads::model::Pricing;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::fmt;

/// The maximum budget and bid, in whole units of the currency. All amounts of a campaign stay below 2⁵³ billionths, so they are exact in a
/// double, the number type of Lua scripts. The sums of grants and returns may exceed it; see `Sum`.
pub const MAX_MONEY: u64 = 9_000_000;

/// The sum of the grants or returns in a campaign's life, in billionths. It grows each time that the same money is granted and returned.
pub(in crate::domains::ads) type Sum = u128;

const BILLION: u64 = 1_000_000_000;

/// An amount in billionths of the server's currency: the price of one impression at a CPM bid of a millionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(pub u64);

impl Money {
    /// Returns an amount in millionths, the smallest unit of an input.
    pub const fn millionths(millionths: u64) -> Self {
        Self(millionths * 1_000)
    }

    /// Converts the amount of an input.
    ///
    /// # Errors
    /// A sentence, for an amount that is not above 0 and at most [`MAX_MONEY`], or that has more than six decimals.
    pub fn from_decimal(amount: Decimal) -> Result<Self, &'static str> {
        let amount = amount.normalize();
        if amount.scale() > 6 {
            return Err("has at most 6 decimals");
        }
        if amount <= Decimal::ZERO || amount > Decimal::from(MAX_MONEY) {
            return Err("is more than 0 and at most 9000000");
        }
        (amount * Decimal::from(BILLION)).to_u64().map(Self).ok_or("is no amount")
    }

    /// Returns the exact amount as a decimal number.
    pub fn decimal(self) -> Decimal {
        Decimal::from_i128_with_scale(i128::from(self.0), 9).normalize()
    }

    /// Subtracts `other`; 0 if `other` is more.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the amount in whole millionths, rounded down.
    pub const fn in_millionths(self) -> u64 {
        self.0 / 1_000
    }
}

/// Writes the exact amount without trailing zeros.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / BILLION, self.0 % BILLION);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let rest = format!("{rest:09}");
        write!(f, "{whole}.{}", rest.trim_end_matches('0'))
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
            // There is no click without an impression: if clicks exceed impressions, the number of clicks counts for both.
            let clicks = (clicks + 1).min(shown + 100);
            Ecpm::try_from(bid * 1_000 * clicks / (shown + 100)).unwrap_or(Ecpm::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_formatted_exactly_and_briefly() {
        for (billionths, text) in
            [(0, "0"), (1, "0.000000001"), (2_250_000_000, "2.25"), (10 * BILLION, "10"), (1_000_000_001, "1.000000001")]
        {
            assert_eq!(Money(billionths).to_string(), text);
        }
        assert!(Money::millionths(MAX_MONEY * 1_000_000).0 < 1 << 53);
    }

    #[test]
    fn money_has_at_most_six_decimals() {
        let of = |text: &str| Money::from_decimal(text.parse().expect("a number"));
        for (text, billionths) in [("0.000001", 1_000), ("2.2500000000", 2_250_000_000), ("9000000", MAX_MONEY * BILLION)] {
            assert_eq!(of(text), Ok(Money(billionths)), "{text}");
            assert_eq!(Money(billionths).decimal().to_string(), Money(billionths).to_string());
        }
        for text in ["0", "0.0", "-1", "-0.000001", "0.0000001", "1.0000001", "9000000.000001", "79228162514264337593543950335"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

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
