//! base64url (RFC 4648, section 5) without padding, and digests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Decodes a text; `None` for padding, other characters and bits beyond the last byte.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Encodes bytes.
pub(super) fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The SHA-256 digest of all parts; each is preceded by its length, so that no two lists of parts have the same digest.
pub(super) fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64url_is_decoded_strictly() {
        assert_eq!(decode("_-8").as_deref(), Some(&[0xff, 0xef][..]));
        for text in ["_-8=", "_-9", "/+8", "_ 8", "_-8\n", "a"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
    }
}
