//! The key of this module.

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 1] = ["jwks"];

/// HASH `source fetched keys`: the public keys of the issuer of JWTs that were fetched last, as a JSON Web Key Set of at most 64 keys; where from, and when, in
/// ms since the epoch. One key, no time to live.
pub(super) const KEY_SET: &str = "jwks:{issuer}";
