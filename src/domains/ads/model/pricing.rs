//! The pricing of ads.

use crate::base::named::named_enum;
use crate::domains::ads::model::Money;

named_enum! {
    /// Pricing model.
    pub enum Pricing {
        /// Cost per thousand impressions: each impression costs exactly a thousandth of the bid.
        Cpm = "CPM",
        /// Cost per click. The bid is reserved at the impression and released if nobody clicks within an hour.
        Cpc = "CPC",
    }
}

impl Pricing {
    /// Returns the money that one impression at this bid charges or holds.
    pub const fn price(self, bid: Money) -> Money {
        match self {
            Self::Cpm => Money(bid.in_millionths()),
            Self::Cpc => bid,
        }
    }
}
