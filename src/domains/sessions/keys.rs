//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::UserId;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 2] = ["session", "sessions"];

/// HASH `id uid seen agent` (seen in ms since the epoch). Time to live: until the session expires.
pub(super) fn session(digest: &str) -> String {
    format!("session:{{{digest}}}")
}

/// ZSET, digest → session id. At most [`super::model::MAX_SESSIONS`]; time to live: the absolute lifetime of its newest session.
pub(super) fn sessions(user: UserId) -> String {
    format!("sessions:{{{}}}", user.0)
}

/// A parsed key.
pub(super) enum KeyKind<'a> {
    Session(&'a str),
    Sessions(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind<'_>> {
    let digest = audit::tag_in(key, "session").filter(|digest| audit::is_digest(digest, 43));
    digest.map(KeyKind::Session).or_else(|| audit::id_in(key, "sessions").map(|id| KeyKind::Sessions(UserId(id))))
}
