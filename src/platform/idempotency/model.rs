//! Idempotent requests: plain types and limits.

use crate::base::audit;
use crate::base::clock::{DAY, Millis};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::UserId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The time for which a key is stored after its first use.
pub(super) const KEY_TTL: Millis = DAY;
/// Maximum number of keys of an account.
pub(super) const MAX_KEYS: usize = 10_000;
/// Maximum number of keys of a server key, which acts for many accounts.
pub(super) const MAX_KEYS_OF_SERVER_KEY: usize = 100_000;
/// The length of a digest: 16 bytes in base64url.
pub(super) const DIGEST_LENGTH: usize = 22;

/// The owner of idempotency keys. Equal keys of different owners are independent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyOwner {
    /// An account.
    Account(UserId),
    /// A server key, by the digest of its name.
    ServerKey(String),
}

impl From<UserId> for KeyOwner {
    fn from(account: UserId) -> Self {
        Self::Account(account)
    }
}

impl KeyOwner {
    /// The server key with this name.
    pub fn server_key(name: &str) -> Self {
        Self::ServerKey(digest(name))
    }

    /// The hash tag of the owner's keys.
    pub(super) fn tag(&self) -> String {
        match self {
            Self::Account(account) => account.0.to_string(),
            Self::ServerKey(digest) => digest.clone(),
        }
    }

    /// The owner with this hash tag.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        let server_key = || audit::is_digest(tag, DIGEST_LENGTH).then(|| Self::ServerKey(tag.to_owned()));
        audit::id(tag).map(|id| Self::Account(UserId(id))).or_else(server_key)
    }

    /// Maximum number of keys.
    pub(super) const fn max_keys(&self) -> usize {
        match self {
            Self::Account(_) => MAX_KEYS,
            Self::ServerKey(_) => MAX_KEYS_OF_SERVER_KEY,
        }
    }
}

/// A creating mutation with a client's key, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotentRequest {
    /// The digest of the mutation's name and the key: the same key of another mutation is a different one.
    pub(super) digest: String,
    /// The digest of the input, which must be the same for a repeated request.
    pub(super) fingerprint: String,
}

impl IdempotentRequest {
    /// The mutation of this name with this key and its normalized input without the key.
    pub fn new(mutation: &str, key: &str, input: &str) -> Self {
        Self { digest: digest(&format!("{mutation} {key}")), fingerprint: digest(input) }
    }
}

/// The value that a key is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBinding {
    /// The id that the request creates.
    pub id: u64,
    /// The stored result of the first request. `None` if no result is stored: the caller must then execute every step of the mutation again.
    pub result: Option<u64>,
}

/// Validates a client's key.
///
/// # Errors
/// `INVALID_INPUT` unless it has 1 to 64 visible ASCII characters.
pub fn check_key(key: &str) -> Result<(), UserError> {
    if (1..=64).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(());
    }
    let message = "An idempotency key is 1 to 64 visible ASCII characters.";
    Err(UserError::new(UserErrorCode::InvalidInput, message, &["idempotencyKey"]))
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(text.as_bytes())[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_ascii() {
        for key in ["k", "key-1", "~!", &"k".repeat(64)] {
            assert_eq!(check_key(key), Ok(()), "{key}");
        }
        for key in ["", " ", "a b", "é", "a\n", "\u{7f}", &"k".repeat(65)] {
            let error = check_key(key).expect_err(key);
            assert_eq!((error.code, error.path), (UserErrorCode::InvalidInput, vec!["idempotencyKey"]), "{key}");
        }
    }

    #[test]
    fn an_owner_is_found_by_its_tag() {
        for owner in [KeyOwner::Account(UserId(42)), KeyOwner::server_key("shop")] {
            assert_eq!(KeyOwner::of_tag(&owner.tag()), Some(owner));
        }
        assert_ne!(KeyOwner::server_key("shop"), KeyOwner::server_key("Shop"));
        assert_eq!(KeyOwner::of_tag("shop"), None);
    }

    #[test]
    fn requests_differ_by_mutation_key_and_input() {
        let request = IdempotentRequest::new("postStatus", "k", "x");
        assert_eq!((request.digest.len(), request.fingerprint.len()), (DIGEST_LENGTH, DIGEST_LENGTH));
        assert_eq!(request, IdempotentRequest::new("postStatus", "k", "x"));
        assert_ne!(request.digest, IdempotentRequest::new("createUserList", "k", "x").digest);
        assert_ne!(request.digest, IdempotentRequest::new("postStatus", "l", "x").digest);
        assert_ne!(request.fingerprint, IdempotentRequest::new("postStatus", "k", "y").fingerprint);
    }
}
