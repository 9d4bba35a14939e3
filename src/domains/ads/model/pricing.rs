//! The pricing of ads.

use crate::domains::ads::model::Money;

/// The event that an advertiser pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pricing {
    /// A thousand impressions.
    Cpm,
    /// A click.
    Cpc,
}

impl Pricing {
    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpm => "CPM",
            Self::Cpc => "CPC",
        }
    }

    /// Returns the pricing with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Cpm, Self::Cpc].into_iter().find(|it| it.name() == name)
    }

    /// Returns the money that one impression at this bid charges or holds.
    pub const fn price(self, bid: Money) -> Money {
        match self {
            Self::Cpm => Money(bid.in_millionths()),
            Self::Cpc => bid,
        }
    }
}
