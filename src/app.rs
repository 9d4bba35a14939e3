//! [`App`]: the handle to everything a use case needs, passed first to all of them.

use crate::base::clock::{Clock, Millis};
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::hashing_pool::HashingPool;
use crate::base::ids::source::IdSource;
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
const HASHING_QUEUE: usize = 64;

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Clock,
    config: Config,
    ids: IdSource,
    cursors: OnceCell<Cursors>,
    hashing_pool: HashingPool,
    background: TaskTracker,
    worker_wakeup: Notify,
    metrics: Metrics,
    extensions: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
}

impl App {
    /// An application over `db`. Asks nothing of Redis yet.
    pub fn new(db: Db, clock: Clock, config: Config) -> Self {
        let hashing_pool = HashingPool::new(config.hashes_at_once.max(1), HASHING_QUEUE);
        let (ids, cursors, background) = (IdSource::default(), OnceCell::new(), TaskTracker::new());
        let metrics = Metrics::new(db.meters(), clock.now());
        let worker_wakeup = Notify::new();
        let extensions = Mutex::default();
        Self(Arc::new(Inner { db, clock, config, ids, cursors, hashing_pool, background, worker_wakeup, metrics, extensions }))
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
        let (pool, background) = (&self.0.hashing_pool, self.0.background.len());
        self.0.metrics.exposition(background, pool.waiting(), pool.working()).map_err(Error::internal)
    }

    /// Where passwords are hashed: only so many at once, so that a flood of log-ins leaves the cores to the others.
    pub fn hashing_pool(&self) -> &HashingPool {
        &self.0.hashing_pool
    }

    /// What a higher floor keeps once a process: made when it is first asked for.
    pub fn extension<T: Clone + Default + Send + 'static>(&self) -> T {
        let mut extensions = self.0.extensions.lock().unwrap_or_else(PoisonError::into_inner);
        let extension = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        extension.downcast_ref::<T>().cloned().unwrap_or_default()
    }

    /// Tells this process's workers that there is something to do.
    pub fn wake_workers(&self) {
        self.0.worker_wakeup.notify_one();
    }

    /// Ends when [`Self::wake`] was called since the last time.
    pub async fn workers_woken(&self) {
        self.0.worker_wakeup.notified().await;
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
    pub async fn run_to_completion<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        let caller_gone = CancellationToken::new();
        let _cancel_on_drop = caller_gone.clone().drop_guard();
        self.0.background.spawn(CALLER_GONE.scope(caller_gone, work).in_current_span()).await.map_err(Error::internal)
    }

    /// Ends when nobody waits any more for the work of [`Self::finish`] that asks; never where that is not known.
    pub async fn caller_gone() {
        match CALLER_GONE.try_with(Clone::clone) {
            Ok(caller_gone) => caller_gone.cancelled().await,
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
    static CALLER_GONE: CancellationToken;
}
