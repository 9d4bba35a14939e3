//! What the shares of a campaign hold.

use crate::domains::ads::model::{Money, Tally};

/// What a share has in hand, and what it has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareBalance {
    /// The day, counted from 1970, that it last did something on.
    pub day: u64,
    /// What it has spent.
    pub spent: Money,
    /// What waits for clicks.
    pub held: Money,
    /// What was reserved on `day`: spent, or waits for clicks.
    pub used: Money,
    /// What it has come to in all. Its spend is `spent`.
    pub tally: Tally,
}

impl ShareBalance {
    /// What was reserved on this day.
    pub const fn used_on(&self, day: u64) -> Money {
        if self.day >= day { self.used } else { Money(0) }
    }

    /// What several shares have used.
    pub(in crate::domains::ads) fn taken(all: &[Self], day: u64) -> UsedBudget {
        let sum = |of: fn(&Self) -> u64| Money(all.iter().map(of).sum());
        let today = all.iter().map(|balance| balance.used_on(day).0).sum();
        UsedBudget { whole: sum(|balance| balance.spent.0 + balance.held.0), today: Money(today) }
    }

    /// What several shares have come to in all.
    pub(in crate::domains::ads) fn whole(all: &[Self]) -> Tally {
        all.iter().fold(Tally::default(), |sum, balance| sum.and(Tally { spent: balance.spent, ..balance.tally }))
    }
}

/// What has been used of a campaign, over all shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedBudget {
    /// Spent, and held for clicks.
    pub whole: Money,
    /// The same of what was reserved today.
    pub today: Money,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_of_another_day_is_not_of_today() {
        let balance = ShareBalance { spent: Money(5), held: Money(2), used: Money(4), day: 9, ..ShareBalance::default() };
        let taken = ShareBalance::taken(&[balance, ShareBalance { day: 8, ..balance }], 9);
        assert_eq!(taken, UsedBudget { whole: Money(14), today: Money(4) });
    }
}
