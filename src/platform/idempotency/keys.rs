//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::UserId;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 2] = ["idempotency", "idempotent"];

/// HASH, digest → `fingerprint id`. At most [`super::model::MAX_KEYS`]; time to live: 24 hours from the last use of any.
pub(super) fn answers(account: UserId) -> String {
    format!("idempotency:{{{}}}", account.0)
}

/// ZSET, digest → when it was first used, in ms since the epoch. The same digests and the same time to live as [`answers`].
pub(super) fn times(account: UserId) -> String {
    format!("idempotent:{{{}}}", account.0)
}

/// What a key of this domain holds, and of whom.
#[derive(Clone, Copy)]
pub(super) enum KeyKind {
    Answers(UserId),
    Times(UserId),
}

/// What a key is about; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let of = |kind| audit::id_in(key, kind).map(UserId);
    of("idempotency").map(KeyKind::Answers).or_else(|| of("idempotent").map(KeyKind::Times))
}
