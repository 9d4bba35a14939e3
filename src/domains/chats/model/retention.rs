//! The retention of a chat: which rows are stored and cannot be read any more, and when it is to be trimmed.

use super::ROWS_PER_BUCKET;
use crate::base::clock::{DAY, MINUTE, Millis};

/// Maximum number of days for which rows that all members have seen are kept.
pub(in super::super) const MAX_DAYS: u64 = 365;
/// The span of time whose read positions are stored as one entry, in ms: a row is trimmed at most this much late. `lua/chat.lua` has the same.
pub(in super::super) const SPAN: Millis = 55 * MINUTE;

/// The stored value of a chat with the server's retention.
pub(in super::super) const DAYS_OF_SERVER: &str = "-";

/// A schedule of chats, by which they are found without reading all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Schedule {
    /// By the time at which rows are to be deleted: of chats with a retention of their own, and of those with rows that nobody can read.
    Trims,
    /// By the time since which all members have seen the oldest row: of chats with the server's retention.
    SeenSince,
    /// By the number of stored rows, in full buckets.
    Sizes,
}

impl Schedule {
    /// All schedules.
    pub(in super::super) const ALL: [Self; 3] = [Self::Trims, Self::SeenSince, Self::Sizes];
}

/// The fields of a chat that decide when it is trimmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct ChatRetentionState {
    /// The lowest row that is stored as readable.
    pub(in super::super) lowest: u64,
    /// The last deleted row.
    pub(in super::super) removed: u64,
    /// The newest row.
    pub(in super::super) newest: u64,
    /// The chat's retention in days; `None` for the server's.
    pub(in super::super) days: Option<u64>,
    /// The time since which all members have seen the oldest row, in ms, at most [`SPAN`] late; 0 if they have not.
    pub(in super::super) since: Millis,
}

impl ChatRetentionState {
    /// Parses the retention fields that `lua/chat.lua` returns; `None` if they are invalid.
    pub(in super::super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let [lowest, removed, newest, days, since] = words[..] else { return None };
        let number = |text: &str| text.parse::<u64>().ok();
        Some(Self {
            lowest: number(lowest)?,
            removed: number(removed)?,
            newest: number(newest)?,
            days: days_of(days)?,
            since: number(since)?,
        })
    }

    /// The score of the chat in a schedule; 0 if it is not there.
    pub(in super::super) const fn score(&self, schedule: Schedule) -> u64 {
        match (schedule, self.days) {
            (Schedule::Trims, _) if self.removed + 1 < self.lowest => 1,
            (Schedule::Trims, Some(0)) => self.since.saturating_sub(SPAN),
            (Schedule::Trims, Some(days)) if self.since > 0 => self.since + days * DAY,
            (Schedule::Trims, _) | (Schedule::SeenSince, Some(_)) => 0,
            (Schedule::SeenSince, None) => self.since,
            (Schedule::Sizes, _) => self.newest.saturating_sub(self.removed) / ROWS_PER_BUCKET * ROWS_PER_BUCKET,
        }
    }
}

/// Parses the stored retention of a chat in days. The inner option is `None` for `-`: the chat has the server's retention. Returns `None` for an invalid text.
#[allow(clippy::option_option)] // The outer option says whether the text is valid.
pub(in super::super) fn days_of(text: &str) -> Option<Option<u64>> {
    if text == DAYS_OF_SERVER { Some(None) } else { text.parse().ok().filter(|days| *days <= MAX_DAYS).map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_is_in_the_schedules_that_find_it() {
        let scores = |text: &str| ChatRetentionState::parse(text).map(|it| Schedule::ALL.map(|schedule| it.score(schedule)));
        let (since, day) = (1_000 * DAY, DAY);
        assert_eq!(scores("1 0 0 - 0"), Some([0, 0, 0]));
        assert_eq!(scores(&format!("1 0 300 - {since}")), Some([0, since, 256]));
        assert_eq!(scores(&format!("1 0 300 2 {since}")), Some([since + 2 * day, 0, 256]));
        assert_eq!(scores(&format!("1 0 127 0 {since}")), Some([since - SPAN, 0, 0]));
        assert_eq!(scores("9 8 300 365 0"), Some([0, 0, 256]));
        assert_eq!(scores(&format!("10 8 300 - {since}")), Some([1, since, 256]), "row 9 is to be deleted");
        for invalid in ["", "1 0 0 -", "1 0 0 366 0", "1 0 0 x 0", "1 0 0 - 0 0"] {
            assert_eq!(scores(invalid), None, "{invalid}");
        }
    }
}
