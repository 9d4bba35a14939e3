//! What lives longer than a request: sockets and event streams. How many one may have, what runs on them, and when they end.

mod filters;
mod operations;
mod places;
mod queue;
mod running;

pub(super) use filters::FilterEntries;
pub(super) use operations::{EntryLease, Operations, Refused};
pub(super) use places::{Kind, Place};
pub(super) use queue::{Item, Out, Queue, What, queue};
pub(super) use running::Running;

use places::Places;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How much longer the ends are spread for each stream that is open: whoever stops a server that few use does not wait for it.
const EACH: Duration = Duration::from_millis(5);
/// The longest that a client is asked to stay away, in seconds.
const AWAY: u64 = 10;

/// The sockets and event streams of a process. Cheap to clone; clones are the same.
#[derive(Clone, Default)]
pub(super) struct Live {
    pub(super) places: Places,
    stop: CancellationToken,
    open: Arc<AtomicU32>,
}

/// A stream that is open, until it is dropped.
pub(super) struct Open(Arc<AtomicU32>);

impl Live {
    /// Ends them all, one by one, once `stop` is cancelled.
    pub(super) fn end_with(&mut self, stop: CancellationToken) {
        self.stop = stop;
    }

    /// One more that is open.
    pub(super) fn open(&self) -> Open {
        self.open.fetch_add(1, Ordering::Relaxed);
        Open(self.open.clone())
    }

    /// Ends when the server stops and it is this stream's turn, spread over `most`. After how many seconds its client should come back.
    pub(super) async fn farewell(&self, most: Duration) -> u64 {
        self.stop.cancelled().await;
        let spread = most.min(EACH * self.open.load(Ordering::Relaxed));
        tokio::time::sleep(spread.mul_f64(rand::random())).await;
        rand::random_range(1..=AWAY)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
