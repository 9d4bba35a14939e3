//! The Redis keys of idempotency keys.

use crate::base::audit;
use crate::base::ids::UserId;

/// The kinds of keys: the part of each key before the colon.
pub const KINDS: [&str; 2] = ["idempotency", "idempotent"];

/// HASH, digest of a client's key → `fingerprint id`: the input's fingerprint and the id of the created object. At most
/// [`super::model::MAX_KEYS`] digests. Time to live: 24 hours from the last use of a key of the account.
pub(super) fn bindings(account: UserId) -> String {
    format!("idempotency:{{{}}}", account.0)
}

/// ZSET, digest → when it was first used, in ms since the epoch. The same digests and the same time to live as [`bindings`].
pub(super) fn times(account: UserId) -> String {
    format!("idempotent:{{{}}}", account.0)
}

/// A parsed key and its account.
#[derive(Clone, Copy)]
pub(super) enum KeyKind {
    Bindings(UserId),
    Times(UserId),
}

/// Parses a key; `None` if it does not belong to the idempotency keys.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let of = |kind| audit::id_in(key, kind).map(UserId);
    of("idempotency").map(KeyKind::Bindings).or_else(|| of("idempotent").map(KeyKind::Times))
}
