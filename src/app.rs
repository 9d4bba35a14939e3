//! [`App`]: the handle to everything a use case needs, passed first to all of them.

use crate::clock::{Clock, Millis};
use crate::config::Config;
use crate::db::Db;
use crate::error::Error;
use crate::ids::source::Ids;
use crate::metrics::Metrics;
use crate::page::Cursors;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio_util::task::TaskTracker;
use tracing::Instrument;

/// The application. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    db: Db,
    clock: Clock,
    config: Config,
    ids: Ids,
    cursors: OnceCell<Cursors>,
    hashing: Semaphore,
    background: TaskTracker,
    metrics: Metrics,
}

impl App {
    /// An application over `db`. Asks nothing of Redis yet.
    pub fn new(db: Db, clock: Clock, config: Config) -> Self {
        let hashing = Semaphore::new(config.hashes_at_once.max(1));
        let (ids, cursors, background) = (Ids::default(), OnceCell::new(), TaskTracker::new());
        let metrics = Metrics::new(db.meters(), clock.now());
        Self(Arc::new(Inner { db, clock, config, ids, cursors, hashing, background, metrics }))
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
        let hashing = self.0.config.hashes_at_once.max(1) - self.0.hashing.available_permits();
        self.0.metrics.exposition(self.0.background.len(), hashing).map_err(Error::internal)
    }

    /// Leave to hash a password, until it is dropped: only so many at once, so that a flood of log-ins leaves the cores to the others.
    ///
    /// # Errors
    /// Internal: never, as long as the application stands.
    pub async fn leave_to_hash(&self) -> Result<SemaphorePermit<'_>, Error> {
        let _waiting = self.0.metrics.hash_waits();
        self.0.hashing.acquire().await.map_err(Error::internal)
    }

    /// Runs `work` after the answer. It ends with the process, and [`Self::drain`] waits for it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.background.spawn(work.in_current_span());
    }

    /// Runs `work` to its end, also when whoever waits for it goes away: a change that has begun is not left half done.
    ///
    /// # Errors
    /// Internal: the work panicked.
    pub async fn finish<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
        self.0.background.spawn(work.in_current_span()).await.map_err(Error::internal)
    }

    /// Waits until no background work is left.
    pub async fn drain(&self) {
        self.0.background.close();
        self.0.background.wait().await;
        self.0.background.reopen();
    }
}
