//! Batch loaders: fetch the keys of all fields of one level together, and cache the values for the request.
//!
//! Built on the `dataloader` crate, which waits inside the request's own task. After one yield every resolver of a level has added its key, and the
//! first resolver that wakes fetches all keys together. A value in the client-side cache is returned without a batch, unless the request has
//! already fetched its key: within a request, a later read never returns an older value.

use crate::base::error::Error;
use crate::base::response_size::ResponseSize;
use dataloader::BatchFn;
use dataloader::cached::Loader as Cached;
use futures_util::FutureExt;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Fetches values in batches: one value per key, in the order of the keys.
pub trait Fetch: Send + Sync + 'static {
    /// The key of a value.
    type Key: Clone + Debug + Eq + Hash + Send + Sync + 'static;
    /// The value.
    type Value: Clone + Send + Sync + 'static;

    /// The values of `keys` in order, if all of them are in the client-side cache. Cached values are returned without a batch: the batch would cost more
    /// than the lookup.
    fn get_cached(&self, _keys: &[Self::Key]) -> Option<Vec<Self::Value>> {
        None
    }

    /// The approximate size of a value in bytes of text; 0 if it is small.
    fn bytes(_value: &Self::Value) -> usize {
        0
    }

    /// Fetches the values of `keys` in order. Usually one pipeline.
    fn fetch(&self, keys: &[Self::Key]) -> impl Future<Output = Result<Vec<Self::Value>, Error>> + Send;
}

/// The loader of one request.
pub struct Loader<F: Fetch> {
    state: Arc<FetchState<F>>,
    /// Created on the first miss: most loaders of a request are never used.
    batches: OnceLock<Batches<F>>,
}

type Batches<F> = Cached<OpaqueKey<<F as Fetch>::Key>, LoadResult<F>, Batch<F>>;

struct FetchState<F: Fetch> {
    fetch: F,
    /// The keys that were fetched or are being fetched.
    fetched: Mutex<HashSet<F::Key>>,
    /// Counts the fetched bytes; `None` if they are not counted.
    size: Option<Arc<ResponseSize>>,
}

/// The result for a key: all keys of a batch share an error.
type LoadResult<F> = Result<<F as Fetch>::Value, Error>;

/// A key without debug output. The `dataloader` crate formats each key for an error message that is rarely used; with debug output that took a tenth of a
/// loader's time.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OpaqueKey<K>(K);

impl<K> Debug for OpaqueKey<K> {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<F: Fetch> Loader<F> {
    /// An empty loader.
    pub fn new(fetch: F) -> Self {
        Self::of(fetch, None)
    }

    /// An empty loader that adds the bytes of fetched values to `size`, and fails when their limit is exceeded. Values from the client-side cache are
    /// not counted.
    pub fn with_response_size(fetch: F, size: &Arc<ResponseSize>) -> Self {
        Self::of(fetch, Some(size.clone()))
    }

    fn of(fetch: F, size: Option<Arc<ResponseSize>>) -> Self {
        Self { state: Arc::new(FetchState { fetch, fetched: Mutex::default(), size }), batches: OnceLock::new() }
    }

    /// The fetcher.
    pub fn fetcher(&self) -> &F {
        &self.state.fetch
    }

    fn batches(&self) -> &Batches<F> {
        let begin = || Cached::new(Batch(self.state.clone())).with_yield_count(1).with_max_batch_size(5_000);
        self.batches.get_or_init(begin)
    }

    /// The values of `keys` from the client-side cache; `None` if a key is not cached, or if this loader has already fetched one of the keys.
    fn get_cached(&self, keys: &[F::Key]) -> Option<Vec<F::Value>> {
        let is_fresh = || {
            let fetched = self.state.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().all(|key| !fetched.contains(key))
        };
        (self.batches.get().is_none() || is_fresh()).then(|| self.state.fetch.get_cached(keys))?
    }

    /// Loads one value.
    ///
    /// # Errors
    /// The errors of the fetch, shared by its batch; `RESPONSE_TOO_LARGE` if the batch exceeds the limit of loaded bytes.
    pub async fn load(&self, key: F::Key) -> Result<F::Value, Error> {
        if let Some(value) = self.get_cached(std::slice::from_ref(&key)).and_then(|mut values| values.pop()) {
            return Ok(value);
        }
        self.batches().try_load(OpaqueKey(key)).await.map_err(Error::internal)?
    }

    /// Stores a value that was read elsewhere for this request, so that it is not fetched. Its bytes are not counted.
    pub async fn prime(&self, key: F::Key, value: F::Value) {
        self.state.fetched.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        self.batches().prime(OpaqueKey(key), Ok(value)).await;
    }

    /// Loads the values of `keys` in order.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub async fn load_many(&self, keys: impl IntoIterator<Item = F::Key>) -> Result<Vec<F::Value>, Error> {
        let keys: Vec<F::Key> = keys.into_iter().collect();
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(values) = self.get_cached(&keys) {
            return Ok(values);
        }
        let keys: Vec<OpaqueKey<F::Key>> = keys.into_iter().map(OpaqueKey).collect();
        let found = self.batches().try_load_many(keys.clone()).await.map_err(Error::internal)?;
        keys.iter().map(|key| found.get(key).cloned().unwrap_or_else(|| Err(Error::corrupt("a loader lost a key")))).collect()
    }
}

/// The batch function for the `dataloader` crate. If a fetch fails, its error is the result for every key of the batch.
struct Batch<F: Fetch>(Arc<FetchState<F>>);

impl<F: Fetch> BatchFn<OpaqueKey<F::Key>, LoadResult<F>> for Batch<F> {
    async fn load(&mut self, keys: &[OpaqueKey<F::Key>]) -> HashMap<OpaqueKey<F::Key>, LoadResult<F>> {
        let requested: Vec<F::Key> = keys.iter().map(|key| key.0.clone()).collect();
        self.0.fetched.lock().unwrap_or_else(PoisonError::into_inner).extend(requested.iter().cloned());
        // A trait object, so that the compiler proves once, and not for every resolver, that the fetch is `Send`.
        let fetched = self.0.fetch.fetch(&requested).boxed().await.and_then(|values| {
            let bytes = || values.iter().map(F::bytes).sum();
            self.0.size.as_ref().map_or(Ok(()), |size| size.add_loaded(bytes()))?;
            Ok(values)
        });
        match fetched {
            Ok(values) => keys.iter().cloned().zip(values.into_iter().map(Ok)).collect(),
            Err(error) => keys.iter().map(|key| (key.clone(), Err(error.clone()))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Each value is the current version, which is cached or must be fetched.
    #[derive(Clone, Default)]
    struct VersionedFetcher {
        now: Arc<AtomicU32>,
        cached: Arc<AtomicU32>,
        fetches: Arc<AtomicU32>,
    }

    impl Fetch for VersionedFetcher {
        type Key = u8;
        type Value = u32;

        fn get_cached(&self, keys: &[u8]) -> Option<Vec<u32>> {
            let now = self.now.load(Ordering::Relaxed);
            (self.cached.load(Ordering::Relaxed) == now).then(|| vec![now; keys.len()])
        }

        async fn fetch(&self, keys: &[u8]) -> Result<Vec<u32>, Error> {
            self.fetches.fetch_add(1, Ordering::Relaxed);
            Ok(vec![self.now.load(Ordering::Relaxed); keys.len()])
        }
    }

    #[tokio::test]
    async fn a_later_read_never_returns_an_older_value() {
        let versions = VersionedFetcher::default();
        let loader = Loader::new(versions.clone());
        assert_eq!(loader.load(1).await.expect("a value"), 0, "the value is cached");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 0);
        versions.now.store(1, Ordering::Relaxed);
        assert_eq!(loader.load(1).await.expect("a value"), 1, "the cached value is outdated");
        versions.now.store(2, Ordering::Relaxed);
        versions.cached.store(2, Ordering::Relaxed);
        assert_eq!(loader.load(1).await.expect("a value"), 1, "the loader keeps fetched values");
        assert_eq!(loader.load_many([2, 3]).await.expect("values"), [2, 2], "the values are cached");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 1);
        assert_eq!(loader.load_many([1, 2]).await.expect("values"), [1, 2], "the loader keeps only the fetched value");
        versions.now.store(3, Ordering::Relaxed);
        assert_eq!(loader.load_many([1, 2]).await.expect("values"), [1, 2], "the loader keeps both values");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 2);
    }
}
