//! The sets of the domain, for its audit.

use super::super::keys;
use super::super::model::{MAX_LIKED, MAX_PINS, MAX_STATUSES, Mark};
use crate::base::audit::Remedy;
use crate::base::ids::{StatusId, UserId};

/// A set that is scanned.
#[derive(Clone, Copy)]
pub(super) enum Set {
    /// The accounts that like a status, or that have marked it.
    OfStatus(InteractionKind, StatusId),
    /// The statuses that an account likes, or has marked.
    OfAccount(InteractionKind, UserId),
    Profile(UserId),
    Pins(UserId),
    /// The statuses that quote a status.
    Quotes(StatusId),
}

impl Set {
    /// The account whose set it is.
    pub(super) const fn owner(self) -> Option<UserId> {
        match self {
            Self::OfStatus(..) | Self::Quotes(_) => None,
            Self::OfAccount(_, id) | Self::Profile(id) | Self::Pins(id) => Some(id),
        }
    }

    /// The status whose set it is.
    pub(super) const fn status(self) -> Option<StatusId> {
        match self {
            Self::OfStatus(_, id) | Self::Quotes(id) => Some(id),
            Self::OfAccount(..) | Self::Profile(_) | Self::Pins(_) => None,
        }
    }

    /// Maximum number of members.
    pub(super) const fn max_size(self) -> usize {
        match self {
            Self::OfStatus(..) | Self::Quotes(_) => usize::MAX,
            Self::OfAccount(kind, _) => kind.max_size(),
            Self::Profile(_) => MAX_STATUSES,
            Self::Pins(_) => MAX_PINS,
        }
    }
}

/// The kind of a relation between an account and a status: a like, a bookmark or a repost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum InteractionKind {
    Like,
    Mark(Mark),
}

impl InteractionKind {
    /// The key of the set of accounts of a status.
    pub(super) fn status_key(self, id: StatusId) -> String {
        match self {
            Self::Like => keys::likers(id),
            Self::Mark(mark) => keys::marking_accounts(mark, id),
        }
    }

    /// The key of the set of statuses of an account.
    pub(super) fn account_key(self, user: UserId) -> String {
        match self {
            Self::Like => keys::liked(user),
            Self::Mark(mark) => keys::marked(mark, user),
        }
    }

    /// Maximum number of statuses in the set of an account.
    pub(super) const fn max_size(self) -> usize {
        match self {
            Self::Like => MAX_LIKED,
            Self::Mark(mark) => mark.max_per_account(),
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Like => "like",
            Self::Mark(Mark::Bookmark) => "bookmark",
            Self::Mark(Mark::Repost) => "repost",
        }
    }

    /// The repair of one edge.
    pub(super) const fn settle(self, user: UserId, status: StatusId) -> Remedy {
        match self {
            Self::Like => Remedy::SettleLike { user, status },
            Self::Mark(Mark::Bookmark) => Remedy::SettleBookmark { user, status },
            Self::Mark(Mark::Repost) => Remedy::SettleRepost { user, status },
        }
    }

    /// The repair of all edges of a deleted status.
    pub(super) const fn purge_remedy(self, status: StatusId) -> Remedy {
        match self {
            Self::Like => Remedy::PurgeLikes(status),
            Self::Mark(Mark::Bookmark) => Remedy::PurgeBookmarks(status),
            Self::Mark(Mark::Repost) => Remedy::PurgeReposts(status),
        }
    }
}
