//! Reads through the client-side cache ([`super::client_cache`]): of keys, and of values that are derived from several keys.

use super::client_cache::{ClientCache, KeyVersion};
use super::{Db, EstimatedSize, ReadBarrier, Speculative};
use crate::base::error::Error;
use redis::{Cmd, Value};
use std::sync::Arc;
use std::time::Duration;

/// The maximum time for which a fully cached read waits for the reply to a pending pipeline.
const BARRIER_TIMEOUT: Duration = Duration::from_millis(500);

/// The command that reads the value of a key, and the decoder of its reply: `None` for a missing value.
pub type CachedRead<T> = (fn(&str) -> Cmd, fn(Value) -> Result<Option<T>, Error>);

impl Db {
    /// The barrier of a request that begins now: the cache can be used after a reply to a later command.
    pub fn read_barrier(&self) -> ReadBarrier {
        self.topology.client_cache().map_or_else(ReadBarrier::default, ClientCache::read_barrier)
    }

    /// Reads and decodes hashes, as [`Self::read_cached_by`].
    ///
    /// # Errors
    /// As [`Self::read_many`], and those of decoding.
    pub async fn read_cached<T: EstimatedSize + Send + Sync + 'static>(
        &self,
        barrier: ReadBarrier,
        keys: Vec<String>,
        decode: fn(Value) -> Result<Option<T>, Error>,
        extra_commands: impl FnOnce(&[Option<Arc<T>>]) -> Vec<Cmd>,
    ) -> Result<(Vec<Option<Arc<T>>>, Vec<Value>), Error> {
        self.read_cached_by(barrier, keys, (|key| redis::cmd("HGETALL").arg(key).take(), decode), extra_commands).await
    }

    /// Returns the decoded value of each key, from the cache, or else read with a command; `None` for a missing key. Also runs the commands that
    /// `extra_commands` makes of the cached values, and returns their replies. One pipeline; no round trip if there is no command.
    ///
    /// # Errors
    /// As [`Self::read_many`], and those of decoding.
    pub async fn read_cached_by<T: EstimatedSize + Send + Sync + 'static>(
        &self,
        barrier: ReadBarrier,
        keys: Vec<String>,
        (command, decode): CachedRead<T>,
        extra_commands: impl FnOnce(&[Option<Arc<T>>]) -> Vec<Cmd>,
    ) -> Result<(Vec<Option<Arc<T>>>, Vec<Value>), Error> {
        let client_cache = self.cache_after(barrier, &keys).await;
        let mut found: Vec<Option<Arc<T>>> =
            keys.iter().map(|key| client_cache.and_then(|client_cache| client_cache.get(key))).collect();
        let missing: Vec<usize> = (0..keys.len()).filter(|at| found[*at].is_none()).collect();
        let client_cache = self.topology.client_cache();
        let versions: Vec<_> =
            missing.iter().map(|at| client_cache.map(|client_cache| client_cache.version(&keys[*at]))).collect();
        let mut commands: Vec<Cmd> = missing.iter().map(|at| command(&keys[*at])).collect();
        commands.extend(extra_commands(&found));
        let mut replies = self.read_many(commands).await?;
        let extra_replies = replies.split_off(missing.len());
        for ((at, version), reply) in missing.into_iter().zip(versions).zip(replies) {
            found[at] = decode(reply)?.map(Arc::new);
            if let (Some(client_cache), Some(version), Some(value)) = (client_cache, version, &found[at]) {
                client_cache.insert(&keys[at], version, value.clone());
            }
        }
        Ok((found, extra_replies))
    }

    /// Whether values are cached.
    pub fn has_client_cache(&self) -> bool {
        self.topology.client_cache().is_some_and(ClientCache::is_tracking)
    }

    /// The values of all keys in order, if all of them are cached, match `fits` and the barrier is passed. Never waits.
    pub fn get_cached<T: Send + Sync + 'static>(
        &self,
        barrier: ReadBarrier,
        mut keys: impl ExactSizeIterator<Item = String>,
        fits: impl Fn(&T) -> bool,
    ) -> Option<Vec<Arc<T>>> {
        let client_cache = self.topology.client_cache().filter(|client_cache| client_cache.has_passed(barrier))?;
        keys.try_fold(Vec::with_capacity(keys.len()), |mut found, key| {
            found.push(client_cache.get(&key).filter(|value| fits(value))?);
            Some(found)
        })
    }

    /// The value of a key, if it is cached and the barrier is passed. Never waits.
    pub fn get_cached_one<T: Send + Sync + 'static>(&self, barrier: ReadBarrier, key: &str) -> Option<Arc<T>> {
        self.topology.client_cache().filter(|client_cache| client_cache.has_passed(barrier))?.get(key)
    }

    /// The cache, if the barrier is passed. If it holds all of the keys, a pending pipeline is waited for: usually the same client request has sent
    /// other commands.
    async fn cache_after(&self, barrier: ReadBarrier, keys: &[String]) -> Option<&ClientCache> {
        let client_cache = self.topology.client_cache()?;
        if !client_cache.has_passed(barrier) {
            if keys.is_empty() || !keys.iter().all(|key| client_cache.contains(key)) {
                return None;
            }
            // Lets concurrent tasks of the request send their commands first.
            tokio::task::yield_now().await;
            // The pending pipeline may belong to a future that is not polled: after a timeout, this read sends its own command.
            let _ = tokio::time::timeout(BARRIER_TIMEOUT, client_cache.wait_until_passed(barrier, self.topology.link())).await;
        }
        client_cache.has_passed(barrier).then_some(client_cache)
    }

    /// Returns a cached value that is derived from several keys; `name` identifies it and is not a key. If `fits` rejects the cached value, `read` computes
    /// a new one, which is cached. No write invalidates the value, so `fits` compares it with a version that is read from Redis. `None` if
    /// there is no cache. The cache is cleared when a connection ends: a Redis that restarts may have lost a version, and assign it to other data.
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn read_derived<T: EstimatedSize + Send + Sync + 'static>(
        &self,
        name: &str,
        fits: impl Fn(&T) -> bool,
        read: impl Future<Output = Result<T, Error>>,
    ) -> Result<Option<Arc<T>>, Error> {
        let client_cache = self.topology.client_cache().filter(|client_cache| client_cache.is_tracking());
        let Some(client_cache) = client_cache else { return Ok(None) };
        if let Some(cached) = client_cache.get::<T>(name).filter(|cached| fits(cached)) {
            return Ok(Some(cached));
        }
        let version = client_cache.version(name);
        let value = Arc::new(read.await?);
        client_cache.insert(name, version, value.clone());
        Ok(Some(value))
    }

    /// The version of a key, to be taken before it is read; `None` if there is no cache.
    pub(super) fn key_version(&self, key: &str) -> Option<KeyVersion> {
        self.topology
            .client_cache()
            .filter(|client_cache| client_cache.is_tracking())
            .map(|client_cache| client_cache.version(key))
    }

    /// Caches the value of a key that was read at `version`.
    pub(super) fn cache<T: EstimatedSize + Send + Sync + 'static>(&self, key: &str, version: KeyVersion, value: Arc<T>) {
        if let Some(client_cache) = self.topology.client_cache() {
            client_cache.insert(key, version, value);
        }
    }

    /// Replaces the cached value of a key by the result of `update`, which adds data that was read at `version` to the cached value.
    pub(super) fn update_cached<T: EstimatedSize + Send + Sync + 'static>(
        &self,
        key: &str,
        version: KeyVersion,
        update: impl FnOnce(Option<Arc<T>>) -> T,
    ) {
        // The cached value has the current version of the key. If that is not `version`, nothing is inserted.
        let cached = self.topology.client_cache().and_then(|client_cache| client_cache.get(key));
        self.cache(key, version, Arc::new(update(cached)));
    }

    /// The cached value of a key before the barrier is passed. The caller must check [`Self::is_confirmed`] before it responds.
    pub fn get_speculative<T: Send + Sync + 'static>(&self, key: String) -> Option<Speculative<T>> {
        self.topology.client_cache()?.get_speculative(key)
    }

    /// Whether a speculative value was current after `barrier`; `false` if unknown.
    pub fn is_confirmed<T>(&self, barrier: ReadBarrier, speculative: &Speculative<T>) -> bool {
        self.topology.client_cache().is_some_and(|client_cache| client_cache.is_confirmed(barrier, speculative))
    }
}
