//! The Redis keys of idempotency keys.

use super::model::KeyOwner;
use crate::base::audit;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 2] = ["idempotency", "idempotent"];

/// HASH, digest of a client's key → `fingerprint id` or `fingerprint id result`: the input's fingerprint, the id of the created object, and the stored result.
/// At most [`super::model::MAX_KEYS`] digests, [`super::model::MAX_KEYS_OF_SERVER_KEY`] for a server key. Time to live: 24 hours from the last use of a key
/// of the owner.
pub(super) fn bindings(owner: &KeyOwner) -> String {
    format!("idempotency:{{{}}}", owner.tag())
}

/// ZSET, digest → when it was first used, in ms since the epoch. The same digests and the same time to live as [`bindings`].
pub(super) fn times(owner: &KeyOwner) -> String {
    format!("idempotent:{{{}}}", owner.tag())
}

/// A parsed Redis key and its owner.
pub(super) enum KeyKind {
    Bindings(KeyOwner),
    Times(KeyOwner),
}

/// Parses a Redis key; `None` if it does not belong to this module.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let owner = |kind| audit::tag_in(key, kind).and_then(KeyOwner::of_tag);
    owner("idempotency").map(KeyKind::Bindings).or_else(|| owner("idempotent").map(KeyKind::Times))
}
