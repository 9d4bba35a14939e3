//! Batch loaders: what a request asks for one by one is fetched together, once a level, and what was fetched is kept for the request.
//!
//! On the `dataloader` crate, which waits inside the request's own task: one yield lets every resolver of a level state its key,
//! then the first to wake sends one pipeline for all. What is near and was not fetched is given as it is by then, without a batch: of one key a
//! request is never given something older than before.

use crate::base::answer::AnswerSize;
use crate::base::error::Error;
use dataloader::BatchFn;
use dataloader::cached::Loader as Cached;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Debug, Formatter};
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Fetches many at once: one value a key, in the keys' order.
pub trait Fetch: Send + Sync + 'static {
    /// What a value is asked by.
    type Key: Clone + Debug + Eq + Hash + Send + Sync + 'static;
    /// What it is.
    type Value: Clone + Send + Sync + 'static;

    /// The values of `keys`, as many and in their order, where none of them has to be asked for or waited for. They take no part in a batch then,
    /// which is most of what a batch of what is near would cost.
    fn get_cached(&self, _keys: &[Self::Key]) -> Option<Vec<Self::Value>> {
        None
    }

    /// About how many bytes of text a value has; 0 where they are few.
    fn bytes(_value: &Self::Value) -> usize {
        0
    }

    /// The values of `keys`, as many and in their order. One round trip.
    fn fetch(&self, keys: &[Self::Key]) -> impl Future<Output = Result<Vec<Self::Value>, Error>> + Send;
}

/// A loader for one request.
pub struct Loader<F: Fetch> {
    state: Arc<FetchState<F>>,
    /// Made for the first that has to be asked for: most loaders of a request are never used.
    batches: OnceLock<Batches<F>>,
}

type Batches<F> = Cached<OpaqueKey<<F as Fetch>::Key>, LoadResult<F>, Batch<F>>;

struct FetchState<F: Fetch> {
    fetch: F,
    /// What was fetched, or is about to be.
    fetched: Mutex<HashSet<F::Key>>,
    /// What is loaded is counted here.
    size: Option<Arc<AnswerSize>>,
}

/// What stands under a key: all of a batch share its error.
type LoadResult<F> = Result<<F as Fetch>::Value, Error>;

/// A key that says nothing of itself: the crate writes the error of a lost key for every one that it finds, which was a tenth of a loader's cost.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OpaqueKey<K>(K);

impl<K> Debug for OpaqueKey<K> {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<F: Fetch> Loader<F> {
    /// An empty one.
    pub fn new(fetch: F) -> Self {
        Self::of(fetch, None)
    }

    /// The same, which counts what it loads and loads no more than may be.
    pub fn within(fetch: F, size: &Arc<AnswerSize>) -> Self {
        Self::of(fetch, Some(size.clone()))
    }

    fn of(fetch: F, size: Option<Arc<AnswerSize>>) -> Self {
        Self { state: Arc::new(FetchState { fetch, fetched: Mutex::default(), size }), batches: OnceLock::new() }
    }

    /// What fetches for it.
    pub fn fetcher(&self) -> &F {
        &self.state.fetch
    }

    fn batches(&self) -> &Batches<F> {
        let begin = || Cached::new(Batch(self.state.clone())).with_yield_count(1).with_max_batch_size(5_000);
        self.batches.get_or_init(begin)
    }

    /// What is at hand of keys of which none was fetched.
    fn get_cached(&self, keys: &[F::Key]) -> Option<Vec<F::Value>> {
        let is_fresh = || {
            let fetched = self.state.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().all(|key| !fetched.contains(key))
        };
        (self.batches.get().is_none() || is_fresh()).then(|| self.state.fetch.get_cached(keys))?
    }

    /// The value of one key.
    ///
    /// # Errors
    /// Those of the fetch, the same to all who waited for it.
    pub async fn load(&self, key: F::Key) -> Result<F::Value, Error> {
        if let Some(value) = self.get_cached(std::slice::from_ref(&key)).and_then(|mut values| values.pop()) {
            return Ok(value);
        }
        self.batches().try_load(OpaqueKey(key)).await.map_err(Error::internal)?
    }

    /// The values of `keys`, in their order.
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

/// The crate's side: a map, in which an error stands under every key of its batch.
struct Batch<F: Fetch>(Arc<FetchState<F>>);

impl<F: Fetch> BatchFn<OpaqueKey<F::Key>, LoadResult<F>> for Batch<F> {
    async fn load(&mut self, keys: &[OpaqueKey<F::Key>]) -> HashMap<OpaqueKey<F::Key>, LoadResult<F>> {
        let wanted: Vec<F::Key> = keys.iter().map(|key| key.0.clone()).collect();
        self.0.fetched.lock().unwrap_or_else(PoisonError::into_inner).extend(wanted.iter().cloned());
        let fetched = self.0.fetch.fetch(&wanted).await.and_then(|values| {
            let bytes = || values.iter().map(F::bytes).sum();
            self.0.size.as_ref().map_or(Ok(()), |size| size.load(bytes()))?;
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

    /// Everything is of the version that there is by then, which is near or has to be fetched.
    #[derive(Clone, Default)]
    struct Versions {
        now: Arc<AtomicU32>,
        near: Arc<AtomicU32>,
        fetches: Arc<AtomicU32>,
    }

    impl Fetch for Versions {
        type Key = u8;
        type Value = u32;

        fn get_cached(&self, keys: &[u8]) -> Option<Vec<u32>> {
            let now = self.now.load(Ordering::Relaxed);
            (self.near.load(Ordering::Relaxed) == now).then(|| vec![now; keys.len()])
        }

        async fn fetch(&self, keys: &[u8]) -> Result<Vec<u32>, Error> {
            self.fetches.fetch_add(1, Ordering::Relaxed);
            Ok(vec![self.now.load(Ordering::Relaxed); keys.len()])
        }
    }

    #[tokio::test]
    async fn of_one_key_nothing_older_is_given_than_before() {
        let versions = Versions::default();
        let loader = Loader::new(versions.clone());
        assert_eq!(loader.load(1).await.expect("a value"), 0, "it is near");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 0);
        versions.now.store(1, Ordering::Relaxed);
        assert_eq!(loader.load(1).await.expect("a value"), 1, "it has to be fetched");
        versions.now.store(2, Ordering::Relaxed);
        versions.near.store(2, Ordering::Relaxed);
        assert_eq!(loader.load(1).await.expect("a value"), 1, "it was fetched");
        assert_eq!(loader.load_many([2, 3]).await.expect("values"), [2, 2], "they are near");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 1);
        assert_eq!(loader.load_many([1, 2]).await.expect("values"), [1, 2], "one was fetched");
        versions.now.store(3, Ordering::Relaxed);
        assert_eq!(loader.load_many([1, 2]).await.expect("values"), [1, 2], "both were");
        assert_eq!(versions.fetches.load(Ordering::Relaxed), 2);
    }
}
