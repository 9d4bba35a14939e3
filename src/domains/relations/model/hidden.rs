//! The accounts that an account mutes or blocks, and those that block it, in memory.

use super::{Mute, Relationship};
use crate::base::clock::Millis;
use crate::base::ids::UserId;
use crate::db::EstimatedSize;
use crate::domains::users::User;
use std::collections::HashMap;

/// Maximum number of accounts that are cached for one viewer. If there are more, nothing is cached, and only those that a request needs are read.
const MAX_CACHED: u64 = 2_000;

/// A version of an account's relations. Each change raises `changes`; repairs of damaged data change only the other counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct RelationsVersion {
    /// The number of changes.
    pub(in super::super) changes: u64,
    /// The number of mutes, also those that have ended.
    pub(in super::super) mutes: u64,
    /// The number of blocked accounts.
    pub(in super::super) blocks: u64,
    /// The number of accounts that block the account.
    pub(in super::super) blocked_by: u64,
}

impl RelationsVersion {
    /// The version that a stored account has.
    pub(in super::super) const fn of(account: &User) -> Self {
        let User { relations_version, mutes, blocks, blocked_by, .. } = account;
        Self { changes: relations_version.0, mutes: mutes.0, blocks: blocks.0, blocked_by: blocked_by.0 }
    }
}

/// The accounts that an account mutes or blocks, and those that block it, at one version of its relations.
#[derive(Debug, Default)]
pub(in super::super) struct HiddenAccounts {
    version: RelationsVersion,
    relationships: HashMap<UserId, Relationship>,
}

impl HiddenAccounts {
    /// Whether the relations of an account are few enough to be cached.
    pub(in super::super) const fn can_cache(account: &User) -> bool {
        account.mutes.0.saturating_add(account.blocks.0).saturating_add(account.blocked_by.0) <= MAX_CACHED
    }

    /// The relations of a version, or of a later one.
    pub(in super::super) fn new(
        version: RelationsVersion,
        mutes: Vec<(UserId, Mute)>,
        blocks: Vec<UserId>,
        blockers: Vec<UserId>,
    ) -> Self {
        let mut relationships: HashMap<UserId, Relationship> =
            HashMap::with_capacity(mutes.len() + blocks.len() + blockers.len());
        for (id, mute) in mutes {
            relationships.entry(id).or_default().mute = Some(mute);
        }
        for id in blocks {
            relationships.entry(id).or_default().blocks = true;
        }
        for id in blockers {
            relationships.entry(id).or_default().is_blocked = true;
        }
        Self { version, relationships }
    }

    /// Whether these are the relations of this version.
    pub(in super::super) fn is_of(&self, version: RelationsVersion) -> bool {
        self.version == version
    }

    /// The mute and the blocks between `viewer`, whose relations these are, and an account. Friends and follows are not among them.
    pub(in super::super) fn relationship(&self, viewer: UserId, other: UserId, now: Millis) -> Relationship {
        let known = self.relationships.get(&other).copied().unwrap_or_default();
        Relationship { is_self: viewer == other, mute: known.mute.filter(|mute| mute.is_active(now)), ..known }
    }
}

impl EstimatedSize for HiddenAccounts {
    // A map keeps an eighth of its table empty, and a byte for each slot.
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.relationships.capacity() * (size_of::<(UserId, Relationship)>() + 1) * 8 / 7
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEWER: UserId = UserId(1);

    #[test]
    fn an_account_has_all_its_relations_and_a_mute_until_its_end() {
        let mutes = vec![(UserId(2), Mute { ends_at: Some(5) }), (UserId(3), Mute { ends_at: None })];
        let version = RelationsVersion { changes: 7, mutes: 2, blocks: 1, blocked_by: 2 };
        let hidden = HiddenAccounts::new(version, mutes, vec![UserId(3)], vec![UserId(3), UserId(4)]);
        let relationship = |id, now| hidden.relationship(VIEWER, UserId(id), now);
        let (none, forever) = (Relationship::default(), Some(Mute { ends_at: None }));
        assert_eq!(relationship(2, 4), Relationship { mute: Some(Mute { ends_at: Some(5) }), ..none });
        assert_eq!(relationship(2, 5), none, "the mute has ended");
        assert_eq!(relationship(3, 9), Relationship { mute: forever, blocks: true, is_blocked: true, ..none });
        assert_eq!(relationship(4, 9), Relationship { is_blocked: true, ..none });
        assert_eq!(relationship(1, 9), Relationship { is_self: true, ..none });
        assert!(hidden.is_of(version) && !hidden.is_of(RelationsVersion { changes: 8, ..version }));
        assert!(!hidden.is_of(RelationsVersion { blocks: 0, ..version }), "a count was repaired");
    }

    #[test]
    fn the_size_grows_with_the_relations() {
        let bytes = |count| {
            HiddenAccounts::new(RelationsVersion::default(), Vec::new(), (2..count).map(UserId).collect(), Vec::new()).bytes()
        };
        assert!(bytes(2_000) > 2_000 * size_of::<(UserId, Relationship)>() && bytes(2) < 200, "{} {}", bytes(2_000), bytes(2));
    }
}
