//! Every key of this domain.

use crate::ids::UserId;

/// HASH `id uid seen agent` (seen in ms since the epoch). Time to live: until the session would end.
pub(super) fn session(digest: &str) -> String {
    format!("session:{{{digest}}}")
}

/// ZSET, digest → session id. At most [`super::model::MAX_SESSIONS`]; time to live: the absolute one of its newest session.
pub(super) fn sessions(user: UserId) -> String {
    format!("sessions:{{{}}}", user.0)
}
