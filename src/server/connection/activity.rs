//! The state of a connection: the connection's task writes the state, and the accept loop reads it, and chooses connections to be closed. The state
//! changes with every request, so there is no lock.

use crate::app::App;
use crate::base::metrics::ConnectionState;
use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::SeqCst};
use std::task::Context;
use std::time::Instant;
use tokio::sync::Notify;

/// The phase of a connection. Earlier variants are closed first when the limit of connections is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Phase {
    /// No byte has arrived since the connection was accepted.
    Silent,
    /// The connection is idle between two requests.
    Idle,
    /// A part of a request's head has arrived.
    Head,
    /// A request is in flight until its response is written; or the connection has become a socket or an event stream.
    Active,
    /// The connection was chosen to be closed. It closes at once, or after the response to a request that has arrived in the meantime.
    Closing,
    /// The connection is closed.
    Closed,
}

impl Phase {
    const ALL: [Self; 6] = [Self::Silent, Self::Idle, Self::Head, Self::Active, Self::Closing, Self::Closed];

    /// Returns whether no request is in flight, so that the connection may be closed for another one.
    pub(super) const fn is_closable(self) -> bool {
        matches!(self, Self::Silent | Self::Idle | Self::Head)
    }

    /// Returns the state under which the metrics count the connection. A connection in `Closing` is counted as closed.
    const fn metrics_state(self) -> Option<ConnectionState> {
        match self {
            Self::Silent => Some(ConnectionState::Silent),
            Self::Idle => Some(ConnectionState::Idle),
            Self::Head => Some(ConnectionState::Head),
            Self::Active => Some(ConnectionState::Active),
            Self::Closing | Self::Closed => None,
        }
    }
}

/// The state that all connections of a listener share with its accept loop.
pub(super) struct TableShared {
    app: App,
    began: Instant,
    /// Whether the accept loop waits for a connection that can be closed.
    pub(super) is_slot_wanted: AtomicBool,
    /// Notifies the accept loop that there may be such a connection.
    pub(super) changed: Notify,
}

impl TableShared {
    pub(super) fn new(app: App) -> Arc<Self> {
        Arc::new(Self { app, began: Instant::now(), is_slot_wanted: AtomicBool::new(false), changed: Notify::new() })
    }

    /// Counts a connection that was refused or closed.
    pub(super) fn count_dropped(&self, reason: &'static str) {
        self.app.metrics().http().connection_dropped(reason);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The state of one connection.
pub(super) struct Activity {
    common: Arc<TableShared>,
    phase: AtomicU8,
    /// The time since which no request is in flight, in microseconds of [`TableShared::now`].
    idle_since: AtomicU64,
    /// The waker of the connection's task while the task waits for bytes.
    task: AtomicWaker,
}

impl Activity {
    /// Creates the state of a connection that was just accepted.
    pub(super) fn new(common: Arc<TableShared>) -> Self {
        let idle_since = AtomicU64::new(common.now());
        common.app.metrics().http().connection_changed(None, Some(ConnectionState::Silent));
        Self { common, phase: AtomicU8::new(Phase::Silent as u8), idle_since, task: AtomicWaker::new() }
    }

    pub(super) fn phase(&self) -> Phase {
        Phase::ALL[usize::from(self.phase.load(SeqCst))]
    }

    /// Returns the order in which connections are closed: by phase, then by the time since which no request is in flight.
    pub(super) fn rank(&self) -> (Phase, u64) {
        (self.phase(), self.idle_since.load(SeqCst))
    }

    /// Records that bytes have arrived while no request was in flight. A connection in `Closing` keeps that phase until its request begins:
    /// otherwise a client that sends a head byte by byte would keep the slot for which an admitted connection waits.
    pub(super) fn receive(&self) {
        loop {
            let before = self.phase();
            if !before.is_closable() || before == Phase::Head {
                return;
            }
            if self.phase.compare_exchange(before as u8, Phase::Head as u8, SeqCst, SeqCst).is_ok() {
                return self.count(before, Phase::Head);
            }
        }
    }

    /// Records that a request begins. Returns whether the connection was in `Closing`: then it closes after the response.
    pub(super) fn begin(&self) -> bool {
        self.enter(Phase::Active) == Phase::Closing
    }

    /// Records that the response is written. `is_reading` is whether a part of the next head has arrived.
    pub(super) fn finish_request(&self, is_reading: bool) {
        if self.phase() == Phase::Active {
            self.idle_since.store(self.common.now(), SeqCst);
            self.enter(if is_reading { Phase::Head } else { Phase::Idle });
            // This side writes the phase before it reads `is_slot_wanted`. The accept loop writes `is_slot_wanted` before it reads the phases. So
            // at least one of them sees the other's write.
            if self.common.is_slot_wanted.load(SeqCst) {
                self.common.changed.notify_waiters();
            }
        }
    }

    /// Records that the connection has ended.
    pub(super) fn close(&self) {
        self.enter(Phase::Closed);
        // A waker keeps the memory of its task, and this state lives until the table is swept.
        drop(self.task.take());
    }

    /// Returns whether the connection has to close now. Otherwise the task of the connection is woken when the connection has to close.
    pub(super) fn poll_close(&self, cx: &Context<'_>) -> bool {
        self.task.register(cx.waker());
        self.phase() == Phase::Closing
    }

    /// Chooses the connection to be closed, if its rank is still `rank`. Returns whether the connection was chosen.
    pub(super) fn close_if_unchanged(&self, rank: (Phase, u64)) -> bool {
        let (phase, idle_since) = rank;
        let is_same = self.idle_since.load(SeqCst) == idle_since;
        let is_chosen = is_same && self.phase.compare_exchange(phase as u8, Phase::Closing as u8, SeqCst, SeqCst).is_ok();
        if is_chosen {
            self.count(phase, Phase::Closing);
            self.common.count_dropped("evicted");
            self.task.wake();
        }
        is_chosen
    }

    /// Counts that the connection was closed.
    pub(super) fn count_dropped(&self, reason: &'static str) {
        self.common.count_dropped(reason);
    }

    /// Enters a phase. Returns the previous phase.
    fn enter(&self, phase: Phase) -> Phase {
        let before = Phase::ALL[usize::from(self.phase.swap(phase as u8, SeqCst))];
        self.count(before, phase);
        if before == Phase::Closing && phase != Phase::Closed {
            self.common.changed.notify_waiters();
        }
        before
    }

    fn count(&self, before: Phase, after: Phase) {
        let (before, after) = (before.metrics_state(), after.metrics_state());
        if before != after {
            self.common.app.metrics().http().connection_changed(before, after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{clock::Clock, config::Config};
    use crate::db;

    async fn activity() -> Activity {
        let nowhere = db::Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = db::Db::open(&nowhere, db::Timing::default()).await.expect("an address");
        Activity::new(TableShared::new(App::new(db, Clock::System, Config::default())))
    }

    #[tokio::test]
    async fn a_partial_head_does_not_keep_an_evicted_connection() {
        for bytes_before in [0, 1] {
            let activity = activity().await;
            (0..bytes_before).for_each(|_| activity.receive());
            assert!(activity.close_if_unchanged(activity.rank()));
            activity.receive();
            assert_eq!(activity.phase(), Phase::Closing, "after {bytes_before} bytes");
            assert!(activity.begin(), "the complete request gets its response before the connection closes");
            assert_eq!(activity.phase(), Phase::Active);
        }
    }

    #[tokio::test]
    async fn bytes_without_a_request_in_flight_begin_a_head() {
        let activity = activity().await;
        activity.receive();
        assert_eq!(activity.phase(), Phase::Head);
        activity.begin();
        activity.receive();
        assert_eq!(activity.phase(), Phase::Active);
        activity.finish_request(false);
        assert_eq!(activity.phase(), Phase::Idle);
    }
}
