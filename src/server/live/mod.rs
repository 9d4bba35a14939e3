//! Sockets and event streams: the operations that run on them, how many of each a client may have, and how they end when the server stops.

mod filters;
mod operations;
mod slots;
mod queue;
mod running;

pub(super) use filters::FilterEntries;
pub(super) use operations::{BeginError, OperationHandle, Operations};
pub(super) use queue::{MessageQueue, MessageSender, OutgoingMessage, QueuedMessage, queue};
pub(super) use running::RunningOperation;
pub(super) use slots::{LiveSlot, SlotKind};

use slots::Slots;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// When the server stops, the ends of its sockets and event streams are spread over this time for each open one: a server with few clients stops fast.
const SHUTDOWN_DELAY_PER_STREAM: Duration = Duration::from_millis(5);
/// The maximum delay in seconds after which a client should reconnect when the server stops.
const MAX_RECONNECT_DELAY_SECS: u64 = 10;

/// The sockets and event streams of a process. Cheap to clone; clones share the counts.
#[derive(Clone, Default)]
pub(super) struct LiveConnections {
    pub(super) slots: Slots,
    stop: CancellationToken,
    /// The number of open sockets and event streams.
    open: Arc<AtomicU32>,
}

/// Counts an open socket or event stream until this is dropped.
pub(super) struct OpenGuard(Arc<AtomicU32>);

impl LiveConnections {
    /// Sets the token whose cancellation ends all sockets and event streams, each at a random time.
    pub(super) fn end_with(&mut self, stop: CancellationToken) {
        self.stop = stop;
    }

    /// Counts one more open socket or event stream.
    pub(super) fn open(&self) -> OpenGuard {
        self.open.fetch_add(1, Ordering::Relaxed);
        OpenGuard(self.open.clone())
    }

    /// Waits until the server stops, and then a random time of at most `max_delay`, so that sockets and event streams do not all end at once. Returns
    /// the seconds after which the client should reconnect.
    pub(super) async fn wait_for_shutdown(&self, max_delay: Duration) -> u64 {
        self.stop.cancelled().await;
        let spread = max_delay.min(SHUTDOWN_DELAY_PER_STREAM * self.open.load(Ordering::Relaxed));
        tokio::time::sleep(spread.mul_f64(rand::random())).await;
        rand::random_range(1..=MAX_RECONNECT_DELAY_SECS)
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
