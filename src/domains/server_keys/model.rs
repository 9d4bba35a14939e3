//! Server keys: plain types, the form of keys and names, and the stored records.

use crate::base::audit;
use crate::base::clock::{MINUTE, Millis};
use crate::base::server_key::{Scope, ServerKey};
use crate::base::token;
use std::sync::Arc;

/// Maximum number of keys of a store.
pub const MAX_KEYS: usize = 20;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;
/// The least time between two writes of the last use.
pub(super) const TOUCH_EVERY: Millis = MINUTE;
/// The prefix of every key.
const PREFIX: &str = "wxk_";
/// The length of a digest, and of the random part of a key.
const DIGEST: usize = 43;

/// A server key as it is stored, without the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its name and scopes.
    pub key: Arc<ServerKey>,
    /// The digest of the key.
    pub digest: String,
    /// The time of the creation.
    pub created_at: Millis,
    /// The time of the last use, up to a minute old; `None` if it was never used.
    pub last_used_at: Option<Millis>,
}

/// The result of the creation of a key.
pub enum CreateResult {
    /// The key, which is shown once.
    Created(String),
    /// Another key has the name.
    NameTaken,
    /// There are [`MAX_KEYS`] keys.
    TooMany,
}

impl KeyRecord {
    /// Parses the record of a name; `None` if the text is not a valid record.
    pub(super) fn parse(name: &str, text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let [digest, scopes, created, used] = std::array::from_fn(|_| parts.next());
        let scopes = scopes?.split(',').map(Scope::from_name).collect::<Option<Vec<_>>>()?;
        let digest = digest.filter(|digest| audit::is_digest(digest, DIGEST))?.to_owned();
        let last_used_at = Some(audit::number(used?)?).filter(|used| *used > 0);
        let created_at = audit::number(created?)?;
        let is_valid = is_name(name) && parts.next().is_none();
        let key = Arc::new(ServerKey { name: name.to_owned(), scopes });
        is_valid.then_some(Self { key, digest, created_at, last_used_at })
    }

    /// The stored text.
    pub(super) fn text(&self) -> String {
        let scopes: Vec<&str> = self.key.scopes.iter().map(|scope| scope.name()).collect();
        format!("{} {} {} {}", self.digest, scopes.join(","), self.created_at, self.last_used_at.unwrap_or(0))
    }
}

/// Whether a name is 1 to 64 letters of ASCII, digits, `.`, `_` and `-`.
pub(super) fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_allowed)
}

/// Whether a token has the form of a server key. The token of a session can begin like a server key, but has the length of a digest.
pub fn is_server_key(token: &str) -> bool {
    token.starts_with(PREFIX) && token.len() != DIGEST
}

/// Makes a random key.
pub(super) fn new_key() -> String {
    format!("{PREFIX}{}", token::random())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_random_and_differs_from_a_session_token() {
        let (one, other) = (new_key(), new_key());
        assert!(one.len() == 47 && one.starts_with("wxk_") && one != other && is_server_key(&one), "{}", one.len());
        assert!(is_server_key("wxk_") && is_server_key("wxk_short"));
        for session in ["wxk_".to_owned() + &"x".repeat(39), "x".repeat(43), "x".repeat(47), "WXK_x".to_owned()] {
            assert!(!is_server_key(&session), "{session}");
        }
    }

    #[test]
    fn a_record_survives_the_round_trip() {
        for (scopes, last_used_at) in [(vec![Scope::Users], None), (Scope::ALL.to_vec(), Some(7))] {
            let key = Arc::new(ServerKey { name: "crm-1".into(), scopes });
            let record = KeyRecord { key, digest: token::digest("wxk_x"), created_at: 5, last_used_at };
            assert_eq!(KeyRecord::parse("crm-1", &record.text()), Some(record));
        }
    }

    #[test]
    fn other_texts_are_no_records() {
        let digest = token::digest("wxk_x");
        assert!(KeyRecord::parse("a", &format!("{digest} users 1 0")).is_some());
        for text in ["", "x", "x users 1 0", "{digest} 1 0", "{digest} owner 1 0", "{digest}  1 0", "{digest} users, 1 0"] {
            assert_eq!(KeyRecord::parse("a", &text.replace("{digest}", &digest)), None, "{text}");
        }
        for rest in ["users 1", "users x 0", "users 1 -1", "users 1 0 2"] {
            assert_eq!(KeyRecord::parse("a", &format!("{digest} {rest}")), None, "{rest}");
        }
        for name in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
            assert_eq!(KeyRecord::parse(name, &format!("{digest} users 1 0")), None, "{name}");
        }
    }
}
