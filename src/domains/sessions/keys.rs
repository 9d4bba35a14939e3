//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::UserId;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 3] = ["session", "sessions", "sessions_ended"];

/// HASH `id uid seen agent` (seen in ms since the epoch), and `method` of a session that did not begin with a password, and `until`, in ms, of one that a
/// backend has begun. Time to live: until the session expires.
pub(super) fn session(digest: &str) -> String {
    format!("session:{{{digest}}}")
}

/// ZSET, digest → session id. At most [`super::model::MAX_SESSIONS`]; time to live: the absolute lifetime of its newest session.
pub(super) fn sessions(user: UserId) -> String {
    format!("sessions:{{{}}}", user.0)
}

/// ZSET, digest → session id: the sessions that a change of the password or a backend ends and whose keys are about to be deleted. Members: at most 1,000
/// for each such step; time to live: the absolute lifetime of a session.
pub(super) fn ended_sessions(user: UserId) -> String {
    format!("sessions_ended:{{{}}}", user.0)
}

/// A parsed key.
pub(super) enum KeyKind<'a> {
    Session(&'a str),
    Sessions(UserId),
    EndedSessions(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind<'_>> {
    let digest = audit::tag_in(key, "session").filter(|digest| audit::is_digest(digest, 43));
    digest
        .map(KeyKind::Session)
        .or_else(|| audit::id_in(key, "sessions").map(|id| KeyKind::Sessions(UserId(id))))
        .or_else(|| audit::id_in(key, "sessions_ended").map(|id| KeyKind::EndedSessions(UserId(id))))
}
