//! What an advertiser pays for.

use crate::domains::ads::model::Money;

/// What an advertiser pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pricing {
    /// A thousand impressions.
    Cpm,
    /// A click.
    Cpc,
}

impl Pricing {
    /// Its name, in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpm => "CPM",
            Self::Cpc => "CPC",
        }
    }

    /// The pricing of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Cpm, Self::Cpc].into_iter().find(|it| it.name() == name)
    }

    /// What is taken or held for one impression at this bid.
    pub const fn price(self, bid: Money) -> Money {
        match self {
            Self::Cpm => Money(bid.in_millionths()),
            Self::Cpc => bid,
        }
    }
}
