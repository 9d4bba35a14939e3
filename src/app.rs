//! [`App`]: the handle to the store, the clock and the services of a process; the first argument of every use case.

use crate::base::clock::{Clock, Millis};
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::hashing_pool::HashingPool;
use crate::base::ids::source::IdSource;
use crate::base::metrics::Metrics;
use crate::base::page::Cursors;
use crate::db::Db;
use futures_util::FutureExt;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, OnceCell};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// Maximum number of password hashes in the queue: about as many as two cores compute in a second.
const HASHING_QUEUE: usize = 64;

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<AppShared>);

struct AppShared {
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
    /// Creates the application over `db`. No round trip.
    pub fn new(db: Db, clock: Clock, config: Config) -> Self {
        let hashing_pool = HashingPool::new(config.hashes_at_once.max(1), HASHING_QUEUE);
        let (ids, cursors, background) = (IdSource::default(), OnceCell::new(), TaskTracker::new());
        let metrics = Metrics::new(db.meters(), clock.now());
        let worker_wakeup = Notify::new();
        let extensions = Mutex::default();
        Self(Arc::new(AppShared {
            db,
            clock,
            config,
            ids,
            cursors,
            hashing_pool,
            background,
            worker_wakeup,
            metrics,
            extensions,
        }))
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

    /// Draws a new id. One round trip every ten seconds of use, and a few more for the first id of a process; otherwise none.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn next_id(&self) -> Result<u64, Error> {
        self.0.ids.next(self.now(), &self.0.db).await
    }

    /// The cursors of this deployment. One round trip per process.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn cursors(&self) -> Result<Cursors, Error> {
        self.0.cursors.get_or_try_init(|| async { self.0.db.cursor_secret().await.map(Cursors::new) }).await.copied()
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// All metrics, including the work in progress, in the OpenMetrics text format. No round trip.
    ///
    /// # Errors
    /// Internal: formatting failed.
    pub fn exposition(&self) -> Result<String, Error> {
        let (pool, background) = (&self.0.hashing_pool, self.0.background.len());
        self.0.metrics.exposition(background, pool.waiting(), pool.working()).map_err(Error::internal)
    }

    /// The pool that hashes passwords. It bounds concurrent hashes, so that many log-ins leave CPU time for other requests.
    pub fn hashing_pool(&self) -> &HashingPool {
        &self.0.hashing_pool
    }

    /// The per-process state of a higher layer, created on first use.
    pub fn extension<T: Clone + Default + Send + 'static>(&self) -> T {
        let mut extensions = self.0.extensions.lock().unwrap_or_else(PoisonError::into_inner);
        let extension = extensions.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        extension.downcast_ref::<T>().cloned().unwrap_or_default()
    }

    /// Wakes this process's workers.
    pub fn wake_workers(&self) {
        self.0.worker_wakeup.notify_one();
    }

    /// Completes when [`Self::wake_workers`] is called, or at once if it was called since this function last completed.
    pub async fn workers_woken(&self) {
        self.0.worker_wakeup.notified().await;
    }

    /// Runs `work` in the background. It ends with the process; [`Self::drain`] waits for it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        // A trait object: the runtime's generic code for tasks is compiled once for all callers, here and below.
        self.0.background.spawn(work.in_current_span().boxed());
    }

    /// Runs `work` to its end, even if the caller is dropped: a change is never left half done. Work that has not changed anything yet can wait for
    /// [`Self::caller_dropped`].
    ///
    /// # Errors
    /// Internal: the work panicked.
    pub async fn run_to_completion<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        let caller_dropped = CancellationToken::new();
        let _cancel_on_drop = caller_dropped.clone().drop_guard();
        let work = CALLER_DROPPED.scope(caller_dropped, work).in_current_span();
        self.0.background.spawn(work.boxed()).await.map_err(Error::internal)
    }

    /// Completes when the caller of [`Self::run_to_completion`] was dropped; never outside of such work.
    pub async fn caller_dropped() {
        match CALLER_DROPPED.try_with(Clone::clone) {
            Ok(caller_dropped) => caller_dropped.cancelled().await,
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until all background work has finished.
    pub async fn drain(&self) {
        self.0.background.close();
        self.0.background.wait().await;
        self.0.background.reopen();
    }
}

tokio::task_local! {
    /// Cancelled when the caller of this task is dropped.
    static CALLER_DROPPED: CancellationToken;
}
