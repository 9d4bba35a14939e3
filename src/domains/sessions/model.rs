//! Sessions: plain types, tokens and lifetimes.

use crate::base::clock::{MINUTE, Millis};
use crate::base::config::Config;
use crate::base::ids::{SessionId, UserId};
use crate::base::named::named_enum;
use crate::base::token;

/// Maximum number of sessions of an account; one more ends the oldest.
pub(super) const MAX_SESSIONS: usize = 100;
/// Maximum length of a stored User-Agent, in bytes.
pub(super) const MAX_AGENT: usize = 256;
/// The least time between two writes of the last use.
pub(super) const TOUCH_EVERY: Millis = MINUTE;

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The id; its time is the log-in.
    pub id: SessionId,
    /// The account.
    pub user: UserId,
    /// The digest of the token.
    pub digest: String,
    /// The time of the last use, up to a minute old.
    pub last_used_at: Millis,
    /// The User-Agent of the log-in; empty if there was none.
    pub agent: String,
    /// How the session began.
    pub method: AuthenticationMethod,
    /// The latest end of a session that a backend has begun; `None` for others, which have the server's absolute lifetime.
    pub until: Option<SessionEnd>,
}

/// The latest end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionEnd(pub Millis);

named_enum! {
    /// How a session began. Values may be added.
    pub enum AuthenticationMethod {
        /// With the account's password: by `signUp` or `logIn`.
        Password = "password",
        /// With the link that `requestPasswordReset` has sent: by `resetPassword`.
        Reset = "reset",
        /// By a backend with a server key: by `issueSession`.
        Key = "key",
    } default Password
}

/// A new session, with the token that is not stored.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// The access token: 43 characters.
    pub token: String,
    /// The latest time at which the session ends.
    pub expires_at: Millis,
    /// The account.
    pub user: UserId,
}

impl Session {
    /// When the session expires if it is not used again.
    pub fn ends_at(&self, config: &Config) -> Millis {
        (self.last_used_at + config.session_idle).min(self.expires_at(config))
    }

    /// When the session expires at the latest.
    pub fn expires_at(&self, config: &Config) -> Millis {
        let absolute = self.id.time() + config.session_absolute;
        self.until.map_or(absolute, |until| absolute.min(until.0))
    }
}

/// The digest of a client's token; `None` for a text that does not have the length of a token.
pub fn digest_of(text: &str) -> Option<String> {
    (text.len() == 43).then(|| token::digest(text))
}

/// Shortens a User-Agent, and removes characters that could disturb a log or a page.
pub(super) fn clean_agent(agent: &str) -> String {
    let mut end = agent.len().min(MAX_AGENT);
    while !agent.is_char_boundary(end) {
        end -= 1;
    }
    agent[..end].chars().filter(|character| !character.is_control()).collect()
}
