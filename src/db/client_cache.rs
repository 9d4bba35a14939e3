//! The client-side cache: decoded values of some kinds of keys, so that frequent reads cost no round trip and no decoding.
//!
//! On a single server only. Every connection enables CLIENT TRACKING (broadcasting, RESP3), and Redis sends an invalidation message for every write
//! to these keys. Redis sends the message before the reply to any command that was sent after the write was acknowledged. So once a reply has arrived
//! to a command that was sent after a request began ([`ReadBarrier`]), the request never reads an older state than an earlier acknowledged write.
//! There is no time window of staleness. Before such a reply, a request cannot use the cache.
//!
//! A value is not cached if an invalidation arrives between its read and its insertion. A connection that is opened or closed invalidates the whole
//! cache, since messages may have been lost. Missing keys are not cached; [`super::cached_scores`] caches that a set has no such member.
//!
//! A value can be used speculatively before the barrier is passed ([`Speculative`]), if the caller confirms it before anything is returned to the client.
//!
//! On a cluster nothing is cached: a reply of one node implies nothing about the messages of another.

use quick_cache::sync::Cache;
use quick_cache::{DefaultHashBuilder, Weighter};
use redis::{Cmd, PushInfo, PushKind, RedisError, Value};
use std::any::Any;
use std::hash::BuildHasher;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use tokio::sync::Notify;

/// The kinds of keys that are cached: the part before the colon.
const KINDS: [&str; 14] = [
    "external_id",
    "followed_tags",
    "following",
    "identity",
    "list_tags",
    "members",
    "reposters",
    "reposts_hidden",
    "revoked_jwt",
    "server_keys",
    "session",
    "status",
    "tag",
    "user",
];
/// The number of write counters. Keys that share a counter are invalidated together.
const WRITE_COUNTERS: usize = 1 << 16;
/// The typical size of a value in bytes.
const TYPICAL_BYTES: u64 = 400;

/// A value with an estimated size.
pub trait EstimatedSize {
    /// The approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// The start of a client's request. The cache can be used when the reply to a pipeline that was sent to Redis after this start has arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadBarrier(u64);

/// The state of a key when it was read: the numbers of invalidations received until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyVersion {
    writes: u32,
    full_invalidations: u64,
}

/// A cached value that is not yet confirmed.
#[derive(Clone, Debug)]
pub struct Speculative<T> {
    /// The cached value.
    pub value: Arc<T>,
    key: String,
    version: KeyVersion,
}

#[derive(Clone)]
struct CachedValue {
    version: KeyVersion,
    value: Arc<dyn Any + Send + Sync>,
    bytes: u32,
}

#[derive(Clone)]
struct EntryWeighter;

impl Weighter<String, CachedValue> for EntryWeighter {
    fn weight(&self, key: &String, cached: &CachedValue) -> u64 {
        (size_of::<(String, CachedValue)>() + key.len()) as u64 + u64::from(cached.bytes)
    }
}

/// The cache.
pub(super) struct ClientCache {
    values: Cache<String, CachedValue, EntryWeighter>,
    /// The number of writes to keys, by their hash.
    writes: Box<[AtomicU32]>,
    /// The number of times that the whole cache was invalidated: by opened and closed connections, and by flushes of the store.
    full_invalidations: AtomicU64,
    /// The number of the last pipeline of all links.
    sent: AtomicU64,
    /// The number of the last pipeline sent over each link.
    last: Box<[AtomicU64]>,
    /// The highest number of a pipeline whose reply has arrived.
    completed: AtomicU64,
    /// The highest number of a pipeline that has ended: completed, failed or dropped.
    ended: AtomicU64,
    /// Notified when the reply to a pipeline has arrived, or the pipeline was lost.
    progress: Notify,
    /// Whether a connection receives no invalidations.
    tracking_disabled: AtomicBool,
    hasher: DefaultHashBuilder,
}

impl ClientCache {
    /// A cache of at most `bytes`, with invalidations from `links` connections.
    pub(super) fn new(bytes: u64, links: usize) -> Arc<Self> {
        Arc::new(Self {
            values: Cache::with_weighter((bytes / TYPICAL_BYTES) as usize, bytes, EntryWeighter),
            writes: (0..WRITE_COUNTERS).map(|_| AtomicU32::new(0)).collect(),
            full_invalidations: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            last: (0..links).map(|_| AtomicU64::new(0)).collect(),
            completed: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            progress: Notify::new(),
            tracking_disabled: AtomicBool::new(false),
            hasher: DefaultHashBuilder::default(),
        })
    }

    /// The command with which a connection enables invalidation messages.
    pub(super) fn tracking_command() -> Cmd {
        let mut tracking = redis::cmd("CLIENT");
        tracking.arg("TRACKING").arg("ON").arg("BCAST");
        for kind in KINDS {
            tracking.arg("PREFIX").arg(format!("{kind}:"));
        }
        tracking
    }

    /// A barrier at the current time.
    pub(super) fn read_barrier(&self) -> ReadBarrier {
        ReadBarrier(self.sent.load(Ordering::SeqCst))
    }

    /// Registers a pipeline that is about to be sent over a link.
    pub(super) fn begin_pipeline(&self, link: usize) -> PendingPipeline<'_> {
        let number = self.sent.fetch_add(1, Ordering::SeqCst) + 1;
        self.last[link].fetch_max(number, Ordering::SeqCst);
        PendingPipeline { client_cache: self, number }
    }

    /// Whether all invalidations from before `barrier` have been received.
    pub(super) fn has_passed(&self, barrier: ReadBarrier) -> bool {
        self.completed.load(Ordering::SeqCst) > barrier.0 && !self.tracking_disabled.load(Ordering::SeqCst)
    }

    /// Waits until `barrier` is passed, or no pending pipeline of this link can pass it; returns whether it is passed. Waiting is no slower than a new
    /// pipeline over the same link. Returns `false` at once if no pending pipeline of this link can pass the barrier.
    pub(super) async fn wait_until_passed(&self, barrier: ReadBarrier, link: usize) -> bool {
        loop {
            let mut progress = pin!(self.progress.notified());
            progress.as_mut().enable();
            if self.has_passed(barrier) {
                return true;
            }
            // The last pipeline is pending unless it was lost: its reply would have passed the barrier.
            if self.last[link].load(Ordering::SeqCst) <= barrier.0.max(self.ended.load(Ordering::SeqCst))
                || self.tracking_disabled.load(Ordering::SeqCst)
            {
                return false;
            }
            progress.await;
        }
    }

    /// Whether the server sends invalidations.
    pub(super) fn is_tracking(&self) -> bool {
        !self.tracking_disabled.load(Ordering::SeqCst)
    }

    /// Disables the cache, because the server sends no invalidations.
    pub(super) fn disable_tracking(&self, why: &RedisError) {
        if !self.tracking_disabled.swap(true, Ordering::SeqCst) {
            tracing::warn!(error = %why, "Redis sends no invalidation messages: the client-side cache is disabled");
        }
        self.invalidate_all();
    }

    fn write_counter(&self, key: &[u8]) -> &AtomicU32 {
        &self.writes[self.hasher.hash_one(key) as usize % WRITE_COUNTERS]
    }

    /// The current version of a key, to be taken before it is read.
    pub(super) fn version(&self, key: &str) -> KeyVersion {
        let full_invalidations = self.full_invalidations.load(Ordering::SeqCst);
        KeyVersion { full_invalidations, writes: self.write_counter(key.as_bytes()).load(Ordering::SeqCst) }
    }

    /// The cached value of a key.
    pub(super) fn get<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let cached = self.values.get(key)?;
        (cached.version == self.version(key)).then(|| cached.value.downcast().ok())?
    }

    /// Whether a key is cached.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.values.peek(key).is_some_and(|cached| cached.version == self.version(key))
    }

    /// The cached value of a key, before the barrier is passed.
    pub(super) fn get_speculative<T: Send + Sync + 'static>(&self, key: String) -> Option<Speculative<T>> {
        // The version is taken first: a write after this invalidates the speculation.
        let version = self.version(&key);
        Some(Speculative { value: self.get(&key)?, key, version })
    }

    /// Whether the speculative value was current when `barrier` was created, or later.
    pub(super) fn is_confirmed<T>(&self, barrier: ReadBarrier, speculative: &Speculative<T>) -> bool {
        self.has_passed(barrier) && self.version(&speculative.key) == speculative.version
    }

    /// Caches the value of a key that was read at this version.
    pub(super) fn insert<T: EstimatedSize + Send + Sync + 'static>(&self, key: &str, version: KeyVersion, value: Arc<T>) {
        let is_outdated = || version != self.version(key) || self.tracking_disabled.load(Ordering::SeqCst);
        if is_outdated() {
            return;
        }
        let bytes = u32::try_from(value.bytes()).unwrap_or(u32::MAX);
        self.values.insert(key.to_owned(), CachedValue { version, value, bytes });
        // An invalidation may have arrived between the check and the insertion.
        if is_outdated() {
            self.values.remove_if(key, |cached| cached.version == version);
        }
    }

    /// Invalidates everything that was read before.
    pub(super) fn invalidate_all(&self) {
        self.full_invalidations.fetch_add(1, Ordering::SeqCst);
        self.values.clear();
    }

    /// Invalidates a key, and frees its memory: deleted data must not stay in memory.
    fn invalidate(&self, key: &[u8]) {
        self.write_counter(key).fetch_add(1, Ordering::SeqCst);
        if let Ok(key) = std::str::from_utf8(key) {
            self.values.remove(key);
        }
    }

    /// Handles a push message of the server.
    pub(super) fn on_push(&self, push: &PushInfo) {
        match (&push.kind, push.data.as_slice()) {
            (PushKind::Invalidate, [Value::Array(keys)]) => {
                for key in keys {
                    if let Value::BulkString(key) = key {
                        self.invalidate(key);
                    }
                }
            }
            // The store was flushed, or the connection has ended.
            (PushKind::Invalidate | PushKind::Disconnection, _) => self.invalidate_all(),
            _ => {}
        }
    }
}

/// A pending pipeline. Dropping it without [`Self::complete`] marks the pipeline as lost.
pub(super) struct PendingPipeline<'a> {
    client_cache: &'a ClientCache,
    number: u64,
}

impl PendingPipeline<'_> {
    /// Records that the reply to the pipeline has arrived.
    pub(super) fn complete(self) {
        self.client_cache.completed.fetch_max(self.number, Ordering::SeqCst);
    }
}

impl Drop for PendingPipeline<'_> {
    fn drop(&mut self) {
        // No effect if the reply has arrived: `wait_until_passed` tests the barrier first.
        self.client_cache.ended.fetch_max(self.number, Ordering::SeqCst);
        self.client_cache.progress.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    impl EstimatedSize for u64 {
        fn bytes(&self) -> usize {
            8
        }
    }

    fn invalidation(key: &str) -> PushInfo {
        PushInfo { kind: PushKind::Invalidate, data: vec![Value::Array(vec![Value::BulkString(key.into())])] }
    }

    #[test]
    fn a_value_is_cached_until_its_key_is_written() {
        let client_cache = ClientCache::new(1 << 20, 1);
        let keep = |value| client_cache.insert("user:{1}", client_cache.version("user:{1}"), Arc::new(value));
        keep(7_u64);
        assert_eq!(client_cache.get("user:{1}"), Some(Arc::new(7_u64)));
        assert_eq!(client_cache.get::<String>("user:{1}"), None, "another type");
        client_cache.on_push(&invalidation("user:{1}"));
        assert_eq!(client_cache.get::<u64>("user:{1}"), None);
        keep(8);
        client_cache.on_push(&PushInfo { kind: PushKind::Disconnection, data: vec![] });
        assert_eq!(client_cache.get::<u64>("user:{1}"), None);
        keep(9);
        client_cache.on_push(&PushInfo { kind: PushKind::Invalidate, data: vec![Value::Nil] });
        assert_eq!(client_cache.get::<u64>("user:{1}"), None, "everything was flushed");
    }

    #[test]
    fn invalidated_values_are_freed() {
        let client_cache = ClientCache::new(1 << 20, 1);
        let keep = |version| client_cache.insert("status:{1}", version, Arc::new(1_u64));
        let version = client_cache.version("status:{1}");
        keep(version);
        assert_eq!(client_cache.values.len(), 1);
        client_cache.on_push(&invalidation("status:{1}"));
        assert_eq!(client_cache.values.len(), 0, "the key was written");
        keep(version);
        assert_eq!(client_cache.values.len(), 0, "the value was read before the write");
        keep(client_cache.version("status:{1}"));
        client_cache.invalidate_all();
        assert_eq!(client_cache.values.len(), 0, "everything was invalidated");
    }

    /// An invalidation can arrive just before the insertion of a value that was read before it.
    #[test]
    fn an_invalidated_value_is_never_returned() {
        let client_cache = ClientCache::new(1 << 20, 1);
        let invalidations: [fn(&ClientCache); 2] =
            [|client_cache| client_cache.on_push(&invalidation("user:{1}")), ClientCache::invalidate_all];
        for invalidate in invalidations {
            let version = client_cache.version("user:{1}");
            invalidate(&client_cache);
            client_cache.values.insert("user:{1}".into(), CachedValue { version, value: Arc::new(1_u64), bytes: 8 });
            assert_eq!(client_cache.get::<u64>("user:{1}"), None);
        }
    }

    #[test]
    fn a_value_read_before_a_write_is_not_cached() {
        let client_cache = ClientCache::new(1 << 20, 1);
        let version = client_cache.version("status:{1}");
        client_cache.on_push(&invalidation("status:{1}"));
        client_cache.insert("status:{1}", version, Arc::new(1_u64));
        assert_eq!(client_cache.get::<u64>("status:{1}"), None);
    }

    #[test]
    fn a_barrier_is_passed_by_a_later_reply() {
        let client_cache = ClientCache::new(1 << 20, 1);
        let (early, first) = (client_cache.read_barrier(), client_cache.begin_pipeline(0));
        assert!(!client_cache.has_passed(early));
        let late = client_cache.read_barrier();
        first.complete();
        assert!(client_cache.has_passed(early) && !client_cache.has_passed(late));
    }

    /// Only a pending pipeline over the same link is waited for, until its reply has arrived or it is lost.
    #[tokio::test]
    async fn a_barrier_waits_for_pending_pipelines_of_its_link() {
        let client_cache = ClientCache::new(1 << 20, 2);
        let barrier = client_cache.read_barrier();
        assert!(!client_cache.wait_until_passed(barrier, 0).now_or_never().expect("no pipeline is pending"));
        let sent = client_cache.begin_pipeline(0);
        assert!(!client_cache.wait_until_passed(barrier, 1).now_or_never().expect("no pipeline is pending on that link"));
        assert!(
            !client_cache
                .wait_until_passed(client_cache.read_barrier(), 0)
                .now_or_never()
                .expect("no pipeline is pending that was sent after the barrier")
        );
        let (mut lost, mut completed) =
            (pin!(client_cache.wait_until_passed(barrier, 0)), pin!(client_cache.wait_until_passed(barrier, 0)));
        assert!(lost.as_mut().now_or_never().is_none());
        drop(sent);
        assert!(!lost.await);
        let sent = client_cache.begin_pipeline(0);
        assert!(completed.as_mut().now_or_never().is_none());
        sent.complete();
        assert!(completed.await);
    }

    #[test]
    fn a_speculative_value_is_confirmed_until_its_key_is_written() {
        let client_cache = ClientCache::new(1 << 20, 1);
        client_cache.insert("session:{a}", client_cache.version("session:{a}"), Arc::new(1_u64));
        let (barrier, speculative) = (
            client_cache.read_barrier(),
            client_cache.get_speculative::<u64>("session:{a}".into()).expect("the value is cached"),
        );
        assert!(!client_cache.is_confirmed(barrier, &speculative), "no reply has arrived since the barrier");
        client_cache.begin_pipeline(0).complete();
        assert!(
            client_cache.is_confirmed(barrier, &speculative)
                && !client_cache.is_confirmed(client_cache.read_barrier(), &speculative)
        );
        client_cache.on_push(&invalidation("session:{a}"));
        assert!(
            !client_cache.is_confirmed(barrier, &speculative)
                && client_cache.get_speculative::<u64>("session:{a}".into()).is_none()
        );
    }

    #[test]
    fn the_size_of_the_cache_is_bounded() {
        let client_cache = ClientCache::new(100_000, 1);
        for id in 0..10_000_u64 {
            let key = format!("user:{{{id}}}");
            client_cache.insert(&key, client_cache.version(&key), Arc::new(id));
        }
        assert!(
            client_cache.values.weight() <= 100_000 && client_cache.values.len() > 300,
            "{} of {}",
            client_cache.values.len(),
            client_cache.values.weight()
        );
    }
}
