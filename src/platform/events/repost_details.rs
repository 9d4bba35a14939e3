//! The details of events about reposts, which follow the filter terms in an encoded event.

use super::filter_terms::{EventAudience, FilterTerms};
use crate::base::ids::{StatusId, UserId};
use serde::{Deserialize, Serialize};

/// Maximum number of accounts in one [`RepostDetails::Change`].
pub const MAX_REPOSTERS: usize = 1_000;

/// The details of an event that feeds receive because of a repost. Such events are in no public stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepostDetails {
    /// A repost: the status, and the account. The event has the repost's id instead of the id of a status.
    Repost {
        /// The status.
        status: StatusId,
        /// The account.
        by: UserId,
    },
    /// A change of a status, for the feeds into which these accounts have reposted it.
    Change {
        /// The id of the change; 0 for a deletion, of which there is one.
        change: u64,
        /// Identifies this group of accounts among the events of the change.
        part: u64,
        /// The audience of the status before the change, if the event is not delivered to everyone.
        audience: Option<EventAudience>,
        /// The hashes of the accounts, sorted. At most [`MAX_REPOSTERS`].
        accounts: Vec<u64>,
    },
}

impl RepostDetails {
    /// The hashes of the accounts of a change; empty for a repost.
    pub(super) fn accounts(&self) -> &[u64] {
        match self {
            Self::Repost { .. } => &[],
            Self::Change { accounts, .. } => accounts,
        }
    }

    /// Encodes the terms, then the details.
    pub(super) fn to_bytes(&self, terms: &FilterTerms) -> Vec<u8> {
        let mut bytes = postcard::to_allocvec(terms).unwrap_or_default();
        bytes.extend(postcard::to_allocvec(self).unwrap_or_default());
        bytes
    }

    /// Decodes terms and details.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<(FilterTerms, Self)> {
        let (terms, rest) = postcard::take_from_bytes(bytes).ok()?;
        Some((terms, postcard::from_bytes(rest).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_survive_the_round_trip() {
        for details in [
            RepostDetails::Repost { status: StatusId(7), by: UserId(3) },
            RepostDetails::Change { change: 5, part: 1, audience: None, accounts: vec![1, u64::MAX] },
        ] {
            let bytes = details.to_bytes(&FilterTerms::unreadable());
            assert_eq!(RepostDetails::from_bytes(&bytes), Some((FilterTerms::unreadable(), details)));
            assert_eq!(RepostDetails::from_bytes(&bytes[..bytes.len() - 1]), None);
        }
    }
}
