//! [`App`]: the handle to everything a use case needs, passed first to all of them.

use crate::base::clock::{Clock, Millis};
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::hashing_pool::HashingPool;
use crate::base::ids::source::Ids;
use crate::base::metrics::Metrics;
use crate::base::page::Cursors;
use crate::db::Db;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, OnceCell};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// How many may wait for a password hash: what two cores get done in a second, more or less.
const HASHES_WAITING: usize = 64;

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Clock,
    config: Config,
    ids: Ids,
    cursors: OnceCell<Cursors>,
    hashing: HashingPool,
    background: TaskTracker,
    waking: Notify,
    metrics: Metrics,
    parts: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
}

impl App {
    /// An application over `db`. Asks nothing of Redis yet.
    pub fn new(db: Db, clock: Clock, config: Config) -> Self {
        let hashing = HashingPool::new(config.hashes_at_once.max(1), HASHES_WAITING);
        let (ids, cursors, background) = (Ids::default(), OnceCell::new(), TaskTracker::new());
        let metrics = Metrics::new(db.meters(), clock.now());
        let waking = Notify::new();
        let parts = Mutex::default();
        Self(Arc::new(Inner { db, clock, config, ids, cursors, hashing, background, waking, metrics, parts }))
    }

    /// The store.
    pub fn db(&self) -> &Db {
        &self.0.db
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The time now.
    pub fn now(&self) -> Millis {
        self.0.clock.now()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.0.config
    }

    /// A new id. No round trip, save one every ten seconds of use.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn next_id(&self) -> Result<u64, Error> {
        self.0.ids.next(self.now(), &self.0.db).await
    }

    /// Cursors of this deployment. One round trip in a process's life.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn cursors(&self) -> Result<Cursors, Error> {
        self.0.cursors.get_or_try_init(|| async { self.0.db.cursor_secret().await.map(Cursors::new) }).await.copied()
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Everything that is counted, and what is under way now, in the text format of OpenMetrics. Asks nothing of Redis.
    ///
    /// # Errors
    /// Internal: it could not be written.
    pub fn exposition(&self) -> Result<String, Error> {
        let (lane, background) = (&self.0.hashing, self.0.background.len());
        self.0.metrics.exposition(background, lane.waiting(), lane.working()).map_err(Error::internal)
    }

    /// Where passwords are hashed: only so many at once, so that a flood of log-ins leaves the cores to the others.
    pub fn hashing(&self) -> &HashingPool {
        &self.0.hashing
    }

    /// What a higher floor keeps once a process: made when it is first asked for.
    pub fn part<T: Clone + Default + Send + 'static>(&self) -> T {
        let mut parts = self.0.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        part.downcast_ref::<T>().cloned().unwrap_or_default()
    }

    /// Tells this process's workers that there is something to do.
    pub fn wake(&self) {
        self.0.waking.notify_one();
    }

    /// Ends when [`Self::wake`] was called since the last time.
    pub async fn woken(&self) {
        self.0.waking.notified().await;
    }

    /// Runs `work` after the answer. It ends with the process, and [`Self::drain`] waits for it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.background.spawn(work.in_current_span());
    }

    /// Runs `work` to its end, also when whoever waits for it goes away: a change that has begun is not left half done. What has not
    /// begun to change anything may ask for [`Self::nobody_waits`].
    ///
    /// # Errors
    /// Internal: the work panicked.
    pub async fn finish<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        let gone = CancellationToken::new();
        let _gone_with_the_caller = gone.clone().drop_guard();
        self.0.background.spawn(CALLER_IS_GONE.scope(gone, work).in_current_span()).await.map_err(Error::internal)
    }

    /// Ends when nobody waits any more for the work of [`Self::finish`] that asks; never where that is not known.
    pub async fn nobody_waits() {
        match CALLER_IS_GONE.try_with(Clone::clone) {
            Ok(gone) => gone.cancelled().await,
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until no background work is left.
    pub async fn drain(&self) {
        self.0.background.close();
        self.0.background.wait().await;
        self.0.background.reopen();
    }
}

tokio::task_local! {
    /// Whether whoever waits for this task has gone away.
    static CALLER_IS_GONE: CancellationToken;
}
