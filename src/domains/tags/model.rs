//! Tags and mentions: plain types and limits.

use crate::base::ids::TagId;
use std::collections::BTreeSet;

/// Maximum number of statuses of a tag: the newest are kept.
pub const MAX_TAGGED: usize = 1_000_000;
/// Maximum number of statuses that mention an account: the newest are kept.
pub const MAX_MENTIONS: usize = 100_000;
/// Maximum number of tags that an account follows. A read of the account's home merges their statuses, so this also bounds the work of such a read.
pub const MAX_FOLLOWED_TAGS: usize = 100;

/// The names in a text under which its status is indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedNames {
    /// The tags.
    pub tags: BTreeSet<TagId>,
    /// The mentioned logins, in lower case.
    pub logins: BTreeSet<String>,
}

impl IndexedNames {
    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.logins.is_empty()
    }

    /// Adds the names of another text.
    pub fn extend(&mut self, other: &Self) {
        self.tags.extend(other.tags.iter().cloned());
        self.logins.extend(other.logins.iter().cloned());
    }

    /// The names that another text does not have.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        Self {
            tags: self.tags.difference(&other.tags).cloned().collect(),
            logins: self.logins.difference(&other.logins).cloned().collect(),
        }
    }
}
