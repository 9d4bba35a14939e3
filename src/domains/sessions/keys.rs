//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::UserId;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 2] = ["session", "sessions"];

/// HASH `id uid seen agent` (seen in ms since the epoch). Time to live: until the session would end.
pub(super) fn session(digest: &str) -> String {
    format!("session:{{{digest}}}")
}

/// ZSET, digest → session id. At most [`super::model::MAX_SESSIONS`]; time to live: the absolute one of its newest session.
pub(super) fn sessions(user: UserId) -> String {
    format!("sessions:{{{}}}", user.0)
}

/// What a key of this domain is about.
pub(super) enum KeyKind<'a> {
    Session(&'a str),
    Sessions(UserId),
}

/// What a key is about; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<KeyKind<'_>> {
    let digest = audit::tag_in(key, "session").filter(|digest| audit::is_digest(digest, 43));
    digest.map(KeyKind::Session).or_else(|| audit::id_in(key, "sessions").map(|id| KeyKind::Sessions(UserId(id))))
}
