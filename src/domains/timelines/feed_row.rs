//! The entries of feeds: statuses and reposts.

use crate::base::ids::{StatusId, UserId};
use crate::base::page::Row;

/// An entry of a feed. No status and repost have the same id, so a position names exactly one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FeedRow {
    /// The id of the repost; the id of the status if the entry is not a repost.
    pub position: u64,
    /// The status.
    pub status: StatusId,
    /// The account that has reposted the status; `None` if the entry is not a repost.
    pub reposter: Option<UserId>,
}

impl FeedRow {
    /// The entry of a status, not of a repost.
    pub const fn of_status(id: u64) -> Self {
        Self { position: id, status: StatusId(id), reposter: None }
    }

    /// The entry of a repost; `row` is a row of the reposts of the account.
    pub const fn of_repost(reposter: UserId, row: Row) -> Self {
        Self { position: row.position, status: StatusId(row.member), reposter: Some(reposter) }
    }

    /// The row that pages are made of.
    pub const fn row(&self) -> Row {
        Row { member: self.status.0, position: self.position }
    }

    /// The member of the sorted set of a feed: the status, or `status:reposter`. An account reposts a status once, so a later repost of the same status
    /// takes the place of an earlier one.
    pub(super) fn member(&self) -> String {
        match self.reposter {
            None => self.status.0.to_string(),
            Some(reposter) => repost_member(self.status, reposter),
        }
    }

    /// Parses a member and its score; `None` for a text that is no entry.
    pub(super) fn parse(member: &str, position: u64) -> Option<Self> {
        let Some((status, reposter)) = member.split_once(':') else {
            return member.parse().ok().map(|id| Self { position, status: StatusId(id), reposter: None });
        };
        Some(Self { position, status: StatusId(status.parse().ok()?), reposter: Some(UserId(reposter.parse().ok()?)) })
    }
}

/// A fact that decides whether a feed shows an entry. All facts about the entries of a page are read in one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FeedLookup {
    /// The id of the repost of a status by an account. The result is `None` if the repost was undone.
    RepostId(UserId, StatusId),
    /// Whether the owner of a home has hidden the reposts of an account. The result is `None` if not, and for a list.
    HiddenReposts(UserId),
    /// Whether an account is a source of the feed, not counting the owner. The result is `None` if not.
    Source(UserId),
}

/// The member of a repost.
pub(super) fn repost_member(status: StatusId, reposter: UserId) -> String {
    format!("{}:{}", status.0, reposter.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_survive_the_round_trip_and_invalid_ones_are_refused() {
        let repost = FeedRow { position: 9, status: StatusId(7), reposter: Some(UserId(3)) };
        for (row, member) in [(FeedRow::of_status(7), "7"), (repost, "7:3")] {
            assert_eq!((row.member().as_str(), FeedRow::parse(member, row.position)), (member, Some(row)));
        }
        for text in ["", ":", "7:", ":3", "7:3:1", "x", "7:x"] {
            assert_eq!(FeedRow::parse(text, 9), None, "{text}");
        }
    }
}
