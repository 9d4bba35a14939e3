//! Sessions: plain types, tokens and when they end.

use crate::base::clock::{MINUTE, Millis};
use crate::base::config::Config;
use crate::base::ids::{SessionId, UserId};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Sessions that an account has at once; one more ends the oldest.
pub(super) const MAX_SESSIONS: usize = 100;
/// Bytes of a User-Agent that are kept.
pub(super) const MAX_AGENT: usize = 256;
/// Last-seen is written at most this often.
pub(super) const TOUCH_EVERY: Millis = MINUTE;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id; its time is when the session began.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The digest of its token.
    pub digest: String,
    /// When it was last used, up to a minute ago.
    pub seen: Millis,
    /// The User-Agent that began it; empty when there was none.
    pub agent: String,
}

/// A session that has just begun: the only time its token is known.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// What proves it: 43 characters.
    pub token: String,
    /// When it ends at the latest.
    pub expires_at: Millis,
    /// Whose it is.
    pub user: UserId,
}

impl Session {
    /// When it ends if it is not used again.
    pub fn ends_at(&self, config: &Config) -> Millis {
        (self.seen + config.session_idle).min(self.id.time() + config.session_absolute)
    }
}

/// A new token.
pub(super) fn new_token() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// What is kept of a token: enough to know it again, useless to whoever reads it.
pub(super) fn digest(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token.as_bytes()))
}

/// The digest of what a client sent; `None` for what is no token by its length.
pub fn digest_of(token: &str) -> Option<String> {
    (token.len() == 43).then(|| digest(token))
}

/// A User-Agent as it is kept: cut, and without what could disturb a log or a page.
pub(super) fn tidy_agent(agent: &str) -> String {
    let mut end = agent.len().min(MAX_AGENT);
    while !agent.is_char_boundary(end) {
        end -= 1;
    }
    agent[..end].chars().filter(|character| !character.is_control()).collect()
}
