//! Every key of this domain.

use crate::ids::UserId;

/// ZSET, status id → itself. At most `home_window` entries, no time to live.
pub(super) fn home(id: UserId) -> String {
    format!("home:{{{}}}", id.0)
}
