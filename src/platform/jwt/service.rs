//! The verification of tokens, and the refreshing of the key set.

use super::cache::TokenCache;
use super::key_set::KeySet;
use super::model::TokenRefusal;
use super::token::UnverifiedToken;
use super::{claims, encoding, fetch, store};
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::jwt::{JwtConfig, VerifiedToken};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

pub use super::token::is_compact;

/// The interval at which a server fetches the keys.
pub const REFRESH: Duration = Duration::from_secs(600);
/// The least time between two fetches for unknown `kid`s.
const LOOKUP_INTERVAL: Millis = MINUTE;
/// Maximum number of requests that wait for such a fetch: invalid tokens must not occupy the server.
const MAX_WAITING_REQUESTS: usize = 32;

/// The state of JWTs in a process.
#[derive(Clone, Default)]
struct ProcessJwt(Arc<JwtState>);

struct JwtState {
    current: RwLock<Arc<CurrentKeys>>,
    /// Held during a fetch.
    fetching: Mutex<()>,
    /// The number of fetches that have ended.
    fetches: AtomicU64,
    /// When an unknown `kid` caused a fetch last.
    last_lookup: AtomicU64,
    waiters: Semaphore,
    verified: TokenCache,
}

impl Default for JwtState {
    fn default() -> Self {
        Self {
            current: RwLock::default(),
            fetching: Mutex::default(),
            fetches: AtomicU64::new(0),
            last_lookup: AtomicU64::new(0),
            waiters: Semaphore::new(MAX_WAITING_REQUESTS),
            verified: TokenCache::default(),
        }
    }
}

/// The keys in use.
#[derive(Default)]
struct CurrentKeys {
    set: KeySet,
    /// When the keys were fetched; 0 if none were fetched yet.
    fetched: Millis,
}

impl JwtState {
    fn current(&self) -> Arc<CurrentKeys> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the keys in use. Returns whether they have changed, or are the first ones.
    fn replace(&self, set: KeySet, fetched: Millis) -> bool {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let has_changed = current.set != set || current.fetched == 0;
        *current = Arc::new(CurrentKeys { set, fetched });
        has_changed
    }
}

/// Loads the last keys from Redis and fetches them: to be called before tokens are verified. At most some five seconds; failures are logged. Does nothing
/// without the options of JWTs.
pub async fn start(app: &App) {
    let Some(config) = &app.config().jwt else { return };
    use_stored_keys(app, config).await;
    refresh(app).await;
}

/// Fetches the keys at this interval, usually [`REFRESH`], until `stop` is cancelled.
pub async fn run(app: &App, interval: Duration, stop: &CancellationToken) {
    while app.config().jwt.is_some() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(interval) => refresh(app).await,
        }
    }
}

/// Fetches the keys now. If that fails, the current ones stay in use, or later ones that another server has stored are used.
pub async fn refresh(app: &App) {
    let Some(config) = &app.config().jwt else { return };
    let state = app.extension::<ProcessJwt>().0;
    let _fetching = state.fetching.lock().await;
    fetch_keys(app, config, &state).await;
}

/// Fetches the keys. The caller holds the lock [`JwtState::fetching`].
async fn fetch_keys(app: &App, config: &JwtConfig, state: &JwtState) {
    // Read before the fetch, so that the set is at least as new as this time.
    let began = app.now();
    let fetched = fetch::fetch(&config.key_source).await;
    app.metrics().jwt_keys_fetched(fetched.is_ok());
    match fetched {
        Ok(set) => {
            let (keys, skipped, json) = (set.len(), set.skipped, set.json());
            if state.replace(set, began) {
                tracing::info!(keys, skipped, "the keys of JWTs have changed");
            }
            if keys == 0 {
                tracing::warn!(skipped, "the issuer of JWTs has no key that can be used: every JWT is refused");
            }
            if let Err(error) = store::save(app.db(), &config.key_source.to_string(), began, json).await {
                tracing::debug!(%error, "the keys of JWTs were not kept");
            }
        }
        Err(error) => {
            let source = &config.key_source;
            tracing::warn!(?source, error, "the keys of JWTs cannot be fetched: the last ones stay in use");
            use_stored_keys(app, config).await;
        }
    }
    state.fetches.fetch_add(1, Ordering::SeqCst);
}

/// Uses the keys that are kept in Redis, if they were fetched later than the keys in use.
async fn use_stored_keys(app: &App, config: &JwtConfig) {
    match store::load(app.db(), &config.key_source.to_string()).await {
        Ok(Some((fetched, json))) => {
            let state = app.extension::<ProcessJwt>().0;
            if let (true, Ok(set)) = (fetched > state.current().fetched, KeySet::parse(json.as_bytes())) {
                state.replace(set, fetched);
            }
        }
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "the kept keys of JWTs cannot be read"),
    }
}

/// Verifies a token with the keys in use. No round trip. The signature is verified unless the token is cached.
///
/// # Errors
/// The reason, which the metrics do not count yet: `Key` also for a `kid` that is not in the set and may be found by [`verify`].
pub fn verify_with_current_keys(app: &App, token: &str) -> Result<Arc<VerifiedToken>, TokenRefusal> {
    let config = app.config().jwt.as_ref().ok_or(TokenRefusal::Key)?;
    let state = app.extension::<ProcessJwt>().0;
    let (now, current) = (app.now(), state.current());
    let digest = encoding::digest(&[token.as_bytes()]);
    if let Some(token) = state.verified.get(&digest) {
        if current.set.contains(&token.key) && token.is_valid_at(now) {
            return Ok(token);
        }
        state.verified.remove(&digest);
    }
    let parsed = UnverifiedToken::parse(token)?;
    let key = current.set.choose(parsed.algorithm, parsed.kid.as_deref())?;
    key.verify(parsed.signed, &parsed.signature)?;
    let verified = Arc::new(claims::verify(&parsed.payload, config, now, (encoding::encode(&digest), key.id))?);
    state.verified.insert(digest, verified.clone());
    Ok(verified)
}

/// Verifies a token. For an unknown `kid` the keys are fetched first, at most once a minute; otherwise no round trip.
///
/// # Errors
/// The reason.
pub async fn verify(app: &App, token: &str) -> Result<Arc<VerifiedToken>, TokenRefusal> {
    match verify_with_current_keys(app, token) {
        Err(TokenRefusal::Key) if fetch_missing_key(app, token).await => verify_with_current_keys(app, token),
        verified => verified,
    }
}

/// Whether the key of a verified token is still in the set.
pub fn has_key(app: &App, token: &VerifiedToken) -> bool {
    app.extension::<ProcessJwt>().0.current().set.contains(&token.key)
}

/// Fetches the keys if the `kid` of a token is unknown, or if no keys were ever fetched; waits for a fetch in progress. Returns whether a fetch has ended.
async fn fetch_missing_key(app: &App, token: &str) -> bool {
    let Some(config) = &app.config().jwt else { return false };
    let state = app.extension::<ProcessJwt>().0;
    let current = state.current();
    let Ok(parsed) = UnverifiedToken::parse(token) else { return false };
    let is_unknown = parsed.kid.as_deref().is_some_and(|kid| !current.set.has_kid(kid)) || current.fetched == 0;
    if !is_unknown {
        return false;
    }
    let Ok(_waiter) = state.waiters.try_acquire() else { return false };
    let fetches = state.fetches.load(Ordering::SeqCst);
    let (app_, state_, config) = (app.clone(), state.clone(), config.clone());
    // The fetch is completed even if the client disconnects: otherwise one client could use up the fetch of each minute.
    let fetched = app.run_to_completion(async move {
        let _fetching = state_.fetching.lock().await;
        if state_.fetches.load(Ordering::SeqCst) != fetches {
            return true;
        }
        let (now, last) = (app_.now(), state_.last_lookup.load(Ordering::SeqCst));
        // A clock that was set back does not prevent fetches.
        if now.abs_diff(last) < LOOKUP_INTERVAL {
            return false;
        }
        state_.last_lookup.store(now, Ordering::SeqCst);
        fetch_keys(&app_, &config, &state_).await;
        true
    });
    fetched.await.unwrap_or(false)
}
