//! The balances of a campaign's shares.

use crate::domains::ads::model::{Money, Tally};

/// The balance and the tally of a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareBalance {
    /// The share's current day, in days since 1970. It advances when a script handles the share's money.
    pub day: u64,
    /// The money that was spent.
    pub spent: Money,
    /// The money that is reserved for clicks.
    pub reserved: Money,
    /// The money that was committed on `day`: spent, or reserved for clicks.
    pub committed: Money,
    /// The tally of all days. The spend is not in the tally, but in `spent`.
    pub tally: Tally,
}

impl ShareBalance {
    /// Returns the money that was committed on `day`; if `self.day` is later, the money committed on `self.day`; if `self.day` is earlier, 0.
    pub const fn committed_on(&self, day: u64) -> Money {
        if self.day >= day { self.committed } else { Money(0) }
    }

    /// Returns the money that several shares have committed.
    pub(in crate::domains::ads) fn committed_budget(all: &[Self], day: u64) -> CommittedBudget {
        let sum = |amount: fn(&Self) -> u64| Money(all.iter().map(amount).sum());
        let today = all.iter().map(|balance| balance.committed_on(day).0).sum();
        CommittedBudget { whole: sum(|balance| balance.spent.0 + balance.reserved.0), today: Money(today) }
    }

    /// Returns the tally of several shares, of all days.
    pub(in crate::domains::ads) fn total_tally(all: &[Self]) -> Tally {
        all.iter().fold(Tally::default(), |sum, balance| sum.plus(Tally { spent: balance.spent, ..balance.tally }))
    }
}

/// The money that a campaign has committed, over all shares: spent, or reserved for clicks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommittedBudget {
    /// The money of all days.
    pub whole: Money,
    /// The part of it that was committed today.
    pub today: Money,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spend_of_another_day_does_not_count_for_today() {
        let balance =
            ShareBalance { spent: Money(5), reserved: Money(2), committed: Money(4), day: 9, ..ShareBalance::default() };
        let committed = ShareBalance::committed_budget(&[balance, ShareBalance { day: 8, ..balance }], 9);
        assert_eq!(committed, CommittedBudget { whole: Money(14), today: Money(4) });
    }
}
