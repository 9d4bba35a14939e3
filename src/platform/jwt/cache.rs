//! The cache of verified tokens.

use crate::base::jwt::VerifiedToken;
use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Weighter};
use std::sync::Arc;

/// The size of the cache in bytes.
const BYTES: u64 = 8 << 20;
/// The typical size of a token in bytes.
const TYPICAL_BYTES: u64 = 400;

#[derive(Clone)]
struct TokenWeighter;

impl Weighter<[u8; 32], Arc<VerifiedToken>> for TokenWeighter {
    fn weight(&self, key: &[u8; 32], token: &Arc<VerifiedToken>) -> u64 {
        (key.len() + token.bytes()) as u64
    }
}

/// Verified tokens by the digests of their texts. Only tokens of the issuer are cached, so a flood of invalid ones evicts none.
pub(super) struct TokenCache(Cache<[u8; 32], Arc<VerifiedToken>, TokenWeighter, DefaultHashBuilder>);

impl Default for TokenCache {
    fn default() -> Self {
        Self(Cache::with_weighter((BYTES / TYPICAL_BYTES) as usize, BYTES, TokenWeighter))
    }
}

impl TokenCache {
    /// The token with this digest.
    pub(super) fn get(&self, digest: &[u8; 32]) -> Option<Arc<VerifiedToken>> {
        self.0.get(digest)
    }

    /// Caches a token.
    pub(super) fn insert(&self, digest: [u8; 32], token: Arc<VerifiedToken>) {
        self.0.insert(digest, token);
    }

    /// Removes a token that has expired, or whose key is no longer in the set.
    pub(super) fn remove(&self, digest: &[u8; 32]) {
        self.0.remove(digest);
    }
}
