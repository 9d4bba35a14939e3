//! Every key of this domain.

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 1] = ["server_keys"];

/// HASH, name → `digest scopes created used`: the SHA-256 of the key, its scopes separated by commas, and the times of the creation and of the last
/// use in ms, the latter 0 for a key that was never used. At most [`super::model::MAX_KEYS`] fields, no time to live.
pub(super) const SERVER_KEYS: &str = "server_keys:{keys}";
