//! Every key of this domain.

use crate::ids::UserId;

/// ZSET, user id → follow id. At most [`super::MAX_FOLLOWING`], no time to live.
pub fn following(id: UserId) -> String {
    format!("following:{{{}}}", id.0)
}

/// ZSET, user id → follow id. At most one an account there is, no time to live.
pub(super) fn followers(id: UserId) -> String {
    format!("followers:{{{}}}", id.0)
}
