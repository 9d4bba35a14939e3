//! Every key of this domain.

use crate::audit;
use crate::ids::UserId;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 1] = ["home"];

/// ZSET, status id → itself. At most `home_window` entries, no time to live.
pub(super) fn home(id: UserId) -> String {
    format!("home:{{{}}}", id.0)
}

/// Whose home a key is; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<UserId> {
    audit::id_in(key, "home").map(UserId)
}
