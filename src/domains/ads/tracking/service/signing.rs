//! Signing and verification of impression tokens.

use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::domains::ads::tracking::store;
use crate::domains::ads::tracking::token::{KeyRing, Token, parse_unverified};
use std::sync::{Arc, Mutex, PoisonError};

/// The time for which a process uses its cached keys before it reads them again.
const REFRESH_AFTER: Millis = MINUTE;

/// Keys, and the time at which they were read.
type CachedRing = (Arc<KeyRing>, Millis);

/// The cached keys of this process.
#[derive(Clone, Default)]
struct KeyRingCache(Arc<Mutex<Option<CachedRing>>>);

impl KeyRingCache {
    fn get(&self, now: Millis) -> Option<Arc<KeyRing>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(_, read)| now < read + REFRESH_AFTER && *read <= now).map(|(ring, _)| ring.clone())
    }

    fn set(&self, ring: Arc<KeyRing>, now: Millis) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((ring, now));
    }
}

/// Returns the signing keys. No round trip, except one a minute; creates the first key of a deployment.
pub(in crate::domains::ads) async fn ring(app: &App) -> Result<Arc<KeyRing>, Error> {
    match app.extension::<KeyRingCache>().get(app.now()) {
        Some(ring) => Ok(ring),
        None => read(app).await,
    }
}

async fn read(app: &App) -> Result<Arc<KeyRing>, Error> {
    let mut ring = store::signing::ring(app.db()).await?;
    if ring.newest == 0 {
        store::signing::add_key(app.db(), app.now(), false).await?;
        ring = store::signing::ring(app.db()).await?;
    }
    let ring = Arc::new(ring);
    app.extension::<KeyRingCache>().set(ring.clone(), app.now());
    Ok(ring)
}

/// Returns the content of a valid token; `None` for any other text. No round trip, except one for a text that claims a newer key.
pub(in crate::domains::ads) async fn open(app: &App, text: &str) -> Result<Option<Token>, Error> {
    let Some((version, _)) = parse_unverified(text) else { return Ok(None) };
    let mut known = ring(app).await?;
    if version == known.newest + 1 {
        known = read(app).await?;
    }
    Ok(known.open(text, app.now()))
}

/// Signs a token.
pub(in crate::domains::ads) fn sign(ring: &KeyRing, token: &Token) -> Result<String, Error> {
    ring.sign(token).ok_or_else(|| Error::corrupt("no key to sign with"))
}

/// Creates a new signing key, which every server uses within a minute. Tokens of the previous key stay valid for two hours; tokens of
/// older keys are invalid. Returns the version of the new key. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: the new key may exist.
pub async fn rotate_keys(app: &App) -> Result<u32, Error> {
    store::signing::add_key(app.db(), app.now(), true).await
}
