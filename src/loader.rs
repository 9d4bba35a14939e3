//! Batch loaders: what a request asks for one by one is fetched together, once a level, and kept for the request.
//!
//! On the `dataloader` crate, which waits inside the request's own task: one yield lets every resolver of a level state its key,
//! then the first to wake sends one pipeline for all. What is near is given as it is by then, without a batch.

use crate::error::Error;
use dataloader::BatchFn;
use dataloader::cached::Loader as Cached;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

/// Fetches many at once: one value a key, in the keys' order.
pub trait Fetch: Send + Sync + 'static {
    /// What a value is asked by.
    type Key: Clone + Debug + Eq + Hash + Send + Sync + 'static;
    /// What it is.
    type Value: Clone + Send + Sync + 'static;

    /// The values of `keys`, as many and in their order, where none of them has to be asked for or waited for. They take no part in a batch then,
    /// which is most of what a batch of what is near would cost.
    fn at_hand(&self, _keys: &[Self::Key]) -> Option<Vec<Self::Value>> {
        None
    }

    /// The values of `keys`, as many and in their order. One round trip.
    fn fetch(&self, keys: &[Self::Key]) -> impl Future<Output = Result<Vec<Self::Value>, Error>> + Send;
}

/// A loader for one request. Clones share what was loaded.
pub struct Loader<F: Fetch> {
    fetch: Arc<F>,
    batches: Cached<Plain<F::Key>, Loaded<F>, Batch<F>>,
}

/// What stands under a key: all of a batch share its error.
type Loaded<F> = Result<<F as Fetch>::Value, Error>;

/// A key that says nothing of itself: the crate writes the error of a lost key for every one that it finds, which was a tenth of a loader's cost.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Plain<K>(K);

impl<K> Debug for Plain<K> {
    fn fmt(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<F: Fetch> Loader<F> {
    /// An empty one.
    pub fn new(fetch: F) -> Self {
        let fetch = Arc::new(fetch);
        let batches = Cached::new(Batch(fetch.clone())).with_yield_count(1).with_max_batch_size(5_000);
        Self { fetch, batches }
    }

    /// The value of one key.
    ///
    /// # Errors
    /// Those of the fetch, the same to all who waited for it.
    pub async fn load(&self, key: F::Key) -> Result<F::Value, Error> {
        if let Some(value) = self.fetch.at_hand(std::slice::from_ref(&key)).and_then(|mut values| values.pop()) {
            return Ok(value);
        }
        self.batches.try_load(Plain(key)).await.map_err(Error::internal)?
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
        if let Some(values) = self.fetch.at_hand(&keys) {
            return Ok(values);
        }
        let keys: Vec<Plain<F::Key>> = keys.into_iter().map(Plain).collect();
        let found = self.batches.try_load_many(keys.clone()).await.map_err(Error::internal)?;
        keys.iter().map(|key| found.get(key).cloned().unwrap_or_else(|| Err(Error::corrupt("a loader lost a key")))).collect()
    }
}

/// The crate's side: a map, in which an error stands under every key of its batch.
struct Batch<F>(Arc<F>);

impl<F: Fetch> BatchFn<Plain<F::Key>, Loaded<F>> for Batch<F> {
    async fn load(&mut self, keys: &[Plain<F::Key>]) -> HashMap<Plain<F::Key>, Loaded<F>> {
        let wanted: Vec<F::Key> = keys.iter().map(|key| key.0.clone()).collect();
        match self.0.fetch(&wanted).await {
            Ok(values) => keys.iter().cloned().zip(values.into_iter().map(Ok)).collect(),
            Err(error) => keys.iter().map(|key| (key.clone(), Err(error.clone()))).collect(),
        }
    }
}
