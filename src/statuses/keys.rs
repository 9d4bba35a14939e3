//! Every key of this domain.

use crate::audit;
use crate::ids::{StatusId, UserId};

/// What stands before the colon of each of them.
pub const KINDS: [&str; 4] = ["status", "gone", "likers", "profile"];

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

/// What a key of this domain is about.
#[derive(Clone, Copy)]
pub(super) enum Owned {
    Status(StatusId),
    Gone(StatusId),
    Likers(StatusId),
    Profile(UserId),
}

/// What a key is about; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<Owned> {
    let (kind, _) = key.split_once(':')?;
    let id = || audit::id_in(key, kind);
    match kind {
        "status" => id().map(|id| Owned::Status(StatusId(id))),
        "gone" => id().map(|id| Owned::Gone(StatusId(id))),
        "likers" => id().map(|id| Owned::Likers(StatusId(id))),
        "profile" => id().map(|id| Owned::Profile(UserId(id))),
        _ => None,
    }
}
