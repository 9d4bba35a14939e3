//! Signing impressions, and knowing our own again.

use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::domains::ads::tracking::store;
use crate::domains::ads::tracking::token::{Ring, Token, unsigned};
use std::sync::{Arc, Mutex, PoisonError};

/// How long a process signs with a key before it looks for a newer one.
const REFRESH_AFTER: Millis = MINUTE;

/// Keys, and when they were read.
type CachedRing = (Arc<Ring>, Millis);

/// The keys that a process knows.
#[derive(Clone, Default)]
struct KeyRingCache(Arc<Mutex<Option<CachedRing>>>);

impl KeyRingCache {
    fn get(&self, now: Millis) -> Option<Arc<Ring>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(_, read)| now < read + REFRESH_AFTER && *read <= now).map(|(ring, _)| ring.clone())
    }

    fn set(&self, ring: Arc<Ring>, now: Millis) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((ring, now));
    }
}

/// The keys. No round trip, save one a minute; the first process ever makes the first key.
pub(in crate::domains::ads) async fn ring(app: &App) -> Result<Arc<Ring>, Error> {
    match app.extension::<KeyRingCache>().get(app.now()) {
        Some(ring) => Ok(ring),
        None => read(app).await,
    }
}

async fn read(app: &App) -> Result<Arc<Ring>, Error> {
    let mut ring = store::signing::ring(app.db()).await?;
    if ring.newest == 0 {
        store::signing::add_key(app.db(), app.now(), false).await?;
        ring = store::signing::ring(app.db()).await?;
    }
    let ring = Arc::new(ring);
    app.extension::<KeyRingCache>().set(ring.clone(), app.now());
    Ok(ring)
}

/// What a token of ours says; `None` for any other text. No round trip, save one for what claims to be signed with a newer key.
pub(in crate::domains::ads) async fn open(app: &App, text: &str) -> Result<Option<Token>, Error> {
    let Some((version, _)) = unsigned(text) else { return Ok(None) };
    let mut known = ring(app).await?;
    if version == known.newest + 1 {
        known = read(app).await?;
    }
    Ok(known.open(text, app.now()))
}

/// A token, signed.
pub(in crate::domains::ads) fn sign(ring: &Ring, token: &Token) -> Result<String, Error> {
    ring.sign(token).ok_or_else(|| Error::corrupt("no key to sign with"))
}

/// Has tokens be signed with a new key from now on, on every server within a minute. What the key before has signed is good for two hours; what
/// an older one has signed, no longer. The new key's version. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: there may be a new key.
pub async fn rotate_keys(app: &App) -> Result<u32, Error> {
    store::signing::add_key(app.db(), app.now(), true).await
}
