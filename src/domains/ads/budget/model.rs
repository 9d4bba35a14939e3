//! The balances of a campaign's shares.

use crate::domains::ads::model::{Money, Tally};

/// The balance and the tally of a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareBalance {
    /// The last day on which the share did something, in days since 1970.
    pub day: u64,
    /// The money that was spent.
    pub spent: Money,
    /// The money that is held for clicks.
    pub held: Money,
    /// The money that was reserved on `day`: spent, or held for clicks.
    pub used: Money,
    /// The tally of all days. Its spend is `spent`.
    pub tally: Tally,
}

impl ShareBalance {
    /// Returns the money that was reserved on this day.
    pub const fn used_on(&self, day: u64) -> Money {
        if self.day >= day { self.used } else { Money(0) }
    }

    /// Returns the money that several shares have used.
    pub(in crate::domains::ads) fn used_budget(all: &[Self], day: u64) -> UsedBudget {
        let sum = |of: fn(&Self) -> u64| Money(all.iter().map(of).sum());
        let today = all.iter().map(|balance| balance.used_on(day).0).sum();
        UsedBudget { whole: sum(|balance| balance.spent.0 + balance.held.0), today: Money(today) }
    }

    /// Returns the tally of several shares, of all days.
    pub(in crate::domains::ads) fn total_tally(all: &[Self]) -> Tally {
        all.iter().fold(Tally::default(), |sum, balance| sum.plus(Tally { spent: balance.spent, ..balance.tally }))
    }
}

/// The money that a campaign has used, over all shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedBudget {
    /// The money spent, and held for clicks.
    pub whole: Money,
    /// The part of it that was reserved today.
    pub today: Money,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spend_of_another_day_does_not_count_for_today() {
        let balance = ShareBalance { spent: Money(5), held: Money(2), used: Money(4), day: 9, ..ShareBalance::default() };
        let used = ShareBalance::used_budget(&[balance, ShareBalance { day: 8, ..balance }], 9);
        assert_eq!(used, UsedBudget { whole: Money(14), today: Money(4) });
    }
}
