//! A feed during an audit.

use crate::base::audit::Remedy;
use crate::base::ids::UserId;
use crate::platform::journal::Feed;
use std::collections::{HashMap, HashSet};

/// A feed that is being checked.
pub(super) struct AuditedFeed {
    pub(super) feed: Feed,
    /// The authors whose statuses it shows, each with the id of the follow or membership; a home's owner with 1, an id that is never young.
    pub(super) authors: Vec<(UserId, u64)>,
    /// The sources whose statuses it merges.
    pub(super) marked: HashSet<UserId>,
    /// The position from which on it must be complete.
    pub(super) floor: u64,
    /// Whether its state records that it may have reposts.
    pub(super) has_reposts: bool,
    /// Expected statuses that were not found, with their authors.
    pub(super) missing: HashMap<u64, UserId>,
}

/// The repair that reconciles a feed with whether an author is its source.
pub(super) const fn source_remedy(feed: Feed, source: UserId) -> Remedy {
    match feed {
        Feed::Home(follower) => Remedy::SettleFollow { follower, followed: source },
        Feed::List(list) => Remedy::SettleMembership { list, user: source },
    }
}
