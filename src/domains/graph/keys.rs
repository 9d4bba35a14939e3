//! Every key of this domain.

use super::model::Direction;
use crate::base::audit;
use crate::base::ids::UserId;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 3] = ["following", "followers", "left"];

/// ZSET, user id → follow id. At most [`super::MAX_FOLLOWING`], no time to live.
pub fn following(id: UserId) -> String {
    format!("following:{{{}}}", id.0)
}

/// ZSET, user id → follow id. At most one an account there is, no time to live.
pub(super) fn followers(id: UserId) -> String {
    format!("followers:{{{}}}", id.0)
}

/// ZSET, user id → the follow that was undone: whom `id` follows no longer, until none of their statuses is in its home. Each has an entry
/// in the journal; no time to live.
pub fn left(id: UserId) -> String {
    format!("left:{{{}}}", id.0)
}

/// Whose key of that kind it is.
pub(super) fn parse_left(key: &str) -> Option<UserId> {
    audit::id_in(key, "left").map(UserId)
}

/// The set of follows that a key of this domain is.
pub(super) fn parse(key: &str) -> Option<(Direction, UserId)> {
    let side = |side, kind| audit::id_in(key, kind).map(|id| (side, UserId(id)));
    side(Direction::Following, "following").or_else(|| side(Direction::Followers, "followers"))
}
