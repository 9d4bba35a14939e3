//! Money, in whole billionths of the currency.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::fmt;

/// The maximum budget and bid, in whole units of the currency. All amounts of a campaign stay below 2⁵³ billionths, so they are exact in a
/// double, the number type of Lua scripts. The sums of grants and returns may exceed this; see `LifetimeSum`.
pub const MAX_MONEY: u64 = 9_000_000;

/// The sum of the grants or returns in a campaign's life, in billionths. It grows each time that the same money is granted and returned.
pub(in crate::domains::ads) type LifetimeSum = u128;

const BILLION: u64 = 1_000_000_000;

/// An amount in billionths of the server's currency. A billionth is the price of one impression at a CPM bid of a millionth.
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
    /// The predicate of an error message, for an amount that is not above 0, exceeds [`MAX_MONEY`], or has more than six decimals.
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
    pub const fn saturating_sub(self, other: Self) -> Self {
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
        let parse = |text: &str| Money::from_decimal(text.parse().expect("a number"));
        for (text, billionths) in [("0.000001", 1_000), ("2.2500000000", 2_250_000_000), ("9000000", MAX_MONEY * BILLION)] {
            assert_eq!(parse(text), Ok(Money(billionths)), "{text}");
            assert_eq!(Money(billionths).decimal().to_string(), Money(billionths).to_string());
        }
        for text in ["0", "0.0", "-1", "-0.000001", "0.0000001", "1.0000001", "9000000.000001", "79228162514264337593543950335"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
