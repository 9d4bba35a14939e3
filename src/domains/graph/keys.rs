//! Every key of this domain.
//!
//! The field `reach` of `user:{id}` has the fan-out mode of the account: its name is older than that of [`super::FanoutMode`].

use super::model::Direction;
use crate::base::audit;
use crate::base::ids::UserId;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 6] =
    ["following", "followers", "left", "follow_requests_sent", "follow_requests_received", "reposts_hidden"];

/// ZSET, user id → follow id. At most [`super::MAX_FOLLOWING`], no time to live.
pub fn following(id: UserId) -> String {
    format!("following:{{{}}}", id.0)
}

/// ZSET, user id → follow id. At most the number of accounts, no time to live.
pub(super) fn followers(id: UserId) -> String {
    format!("followers:{{{}}}", id.0)
}

/// ZSET, user id → id of the undone follow: accounts that `id` has unfollowed, until none of their statuses is in its home. Each has an
/// entry in the journal; no time to live. The stored name `left` is older than the name of the function, and stays: renaming it needs a migration.
pub fn unfollowed(id: UserId) -> String {
    format!("left:{{{}}}", id.0)
}

/// ZSET, user id → request id: accounts that `id` has requested to follow. At most [`super::MAX_FOLLOW_REQUESTS`], no time to live.
pub fn follow_requests_sent(id: UserId) -> String {
    format!("follow_requests_sent:{{{}}}", id.0)
}

/// ZSET, user id → request id: accounts that have requested to follow `id`. At most the number of accounts, no time to live.
pub(super) fn follow_requests_received(id: UserId) -> String {
    format!("follow_requests_received:{{{}}}", id.0)
}

/// ZSET, user id → follow id: followed accounts whose reposts the home does not show. An entry with the id of a former follow is ignored.
/// At most [`super::MAX_FOLLOWING`], and ignored entries that are about to be removed; no time to live.
pub fn hidden_reposts(id: UserId) -> String {
    format!("reposts_hidden:{{{}}}", id.0)
}

/// The account of a key of [`hidden_reposts`].
pub(super) fn parse_hidden_reposts(key: &str) -> Option<UserId> {
    audit::id_in(key, "reposts_hidden").map(UserId)
}

/// The account of a key of [`follow_requests_sent`].
pub(super) fn parse_sent_requests(key: &str) -> Option<UserId> {
    audit::id_in(key, "follow_requests_sent").map(UserId)
}

/// The account of a key of [`follow_requests_received`].
pub(super) fn parse_received_requests(key: &str) -> Option<UserId> {
    audit::id_in(key, "follow_requests_received").map(UserId)
}

/// The account of a key of [`unfollowed`].
pub(super) fn parse_unfollowed(key: &str) -> Option<UserId> {
    audit::id_in(key, "left").map(UserId)
}

/// The side and the account of a key of follows.
pub(super) fn parse(key: &str) -> Option<(Direction, UserId)> {
    let side = |side, kind| audit::id_in(key, kind).map(|id| (side, UserId(id)));
    side(Direction::Following, "following").or_else(|| side(Direction::Followers, "followers"))
}
