//! Reads of single keys in a pipeline with other commands. If the value is cached, the read adds no command to the pipeline. A request cannot use the
//! client-side cache before its first reply ([`super::client_cache`]), so the cached value is confirmed when the replies to the pipeline have come.

use super::cached_reads::CachedRead;
use super::client_cache::KeyVersion;
use super::{Db, EstimatedSize, ReadBarrier, Speculative};
use crate::base::error::Error;
use redis::{Cmd, Value};
use std::sync::Arc;

/// The read of a key.
pub struct SpeculativeRead<T> {
    key: String,
    read: CachedRead<T>,
    source: ReadSource<T>,
}

/// The source of the value.
enum ReadSource<T> {
    Cached(Speculative<T>),
    /// From Redis, with the version of the key before it is read, if the result can be cached.
    Redis(Option<KeyVersion>),
}

impl<T: EstimatedSize + Send + Sync + 'static> SpeculativeRead<T> {
    /// Looks the key up in the cache.
    pub fn new(db: &Db, key: String, read: CachedRead<T>) -> Self {
        let source = match db.get_speculative(key.clone()) {
            Some(cached) => ReadSource::Cached(cached),
            None => ReadSource::Redis(db.key_version(&key)),
        };
        Self { key, read, source }
    }

    /// The command, unless the value is cached.
    pub fn command(&self) -> Option<Cmd> {
        matches!(self.source, ReadSource::Redis(_)).then(|| (self.read.0)(&self.key))
    }

    /// The value of the key, as it was when the request began at `since` or later; `None` if the key is missing. `reply` is called for the reply to the
    /// command, if there is one. No round trip, unless a cached value is not confirmed.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, and those of decoding.
    pub async fn finish(self, db: &Db, since: ReadBarrier, reply: impl FnOnce() -> Value) -> Result<Option<Arc<T>>, Error> {
        let (version, reply) = match self.source {
            ReadSource::Cached(cached) if db.is_confirmed(since, &cached) => return Ok(Some(cached.value)),
            ReadSource::Cached(_) => (db.key_version(&self.key), db.read((self.read.0)(&self.key)).await?),
            ReadSource::Redis(version) => (version, reply()),
        };
        let value = (self.read.1)(reply)?.map(Arc::new);
        if let (Some(version), Some(value)) = (version, &value) {
            db.cache(&self.key, version, value.clone());
        }
        Ok(value)
    }
}
