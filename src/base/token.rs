//! Random tokens, and the digests that are stored in Redis instead of tokens and other secret texts.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// A random token of 256 bits: 43 characters of base64url.
pub fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// The SHA-256 of a text as 43 characters of base64url. It identifies the text, can be a hash tag, and is useless to a reader of the store if the text is
/// random.
pub fn digest(text: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(text))
}
