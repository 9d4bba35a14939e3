//! Every key of this domain.

use crate::ids::{StatusId, UserId};

/// HASH `id uid message posted likes comments [lat lon]` (posted in ms since the epoch). No time to live.
pub(super) fn status(id: StatusId) -> String {
    format!("status:{{{}}}", id.0)
}

/// STRING, its author's id: the mark of a deleted status. Time to live: 25 hours, longer than any step may be late.
pub(super) fn gone(id: StatusId) -> String {
    format!("gone:{{{}}}", id.0)
}

/// ZSET, user id → like id. At most one an account there is; goes with its status.
pub(super) fn likers(id: StatusId) -> String {
    format!("likers:{{{}}}", id.0)
}

/// ZSET, status id → itself. At most [`super::model::MAX_STATUSES`], no time to live.
pub(super) fn profile(author: UserId) -> String {
    format!("profile:{{{}}}", author.0)
}

/// STRING `fingerprint status-id state`. Time to live: 24 hours. The client's key is in it as a digest only.
pub(super) fn idempotency(account: UserId, digest: &str) -> String {
    format!("idempotency:{{{}}}:{digest}", account.0)
}
