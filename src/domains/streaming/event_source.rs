//! Reads the events of a subscription: first missed events from the log, then live events from the hub's queue.

use super::envelope::Envelope;
use super::event_queue::{EventQueue, QueueItem};
use super::model::{GapReason, OutgoingEvent};
use crate::base::error::Error;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of events that are read at once from a shard of the log, or from the log of a thread.
pub(super) const PAGE: usize = 500;
/// The delay before a read of Redis is retried after an error.
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Waits before a failed read is retried. Returns `false` at once if a stored object is invalid, since a retry would fail in the same way.
pub(super) async fn wait_to_retry(error: Error) -> bool {
    if let Error::Internal(cause) = error {
        tracing::error!(cause = format!("{cause:#}"), "an object of an event cannot be read");
        return false;
    }
    tokio::time::sleep(RETRY_DELAY).await;
    true
}

/// The log and the queue of a subscription: implemented for streams of statuses, of threads and of chats.
pub(super) trait EventSource: Send {
    /// An event of the log.
    type Event: Send + Sync;
    /// A position in the log.
    type Position: Clone + Send + Sync;

    /// Events that were read and not sent yet.
    fn pending(&mut self) -> &mut VecDeque<Arc<Envelope<Self::Event, Self::Position>>>;

    /// The queue of dispatched events; `None` before the subscription has joined the hub or the thread's channel.
    fn queue(&self) -> Option<&EventQueue<Self::Event, Self::Position>>;

    /// Whether an event was read before the subscription joined the hub.
    fn covers(&self, event: &Self::Event) -> bool;

    /// Advances past an event. Returns the event if the subscription sends it.
    fn advance(&mut self, next: &Envelope<Self::Event, Self::Position>) -> Option<OutgoingEvent>;

    /// Advances past a gap, and returns the event that announces the gap.
    fn skip_gap(&mut self, reason: GapReason, position: Self::Position) -> OutgoingEvent;

    /// Reads the next events; at the end of the log, joins the hub or the thread's channel. Returns a gap if the next events have expired or were lost.
    fn read_log(&mut self) -> impl Future<Output = Result<Option<(GapReason, Self::Position)>, Error>> + Send;
}

/// Waits for the next event; `None` at the end of the stream. The future that reads the log is boxed: thousands of subscriptions wait, and
/// each would reserve memory for it.
pub(super) async fn next<C: EventSource>(source: &mut C) -> Option<OutgoingEvent> {
    loop {
        if let Some(next) = source.pending().pop_front() {
            match source.advance(&next) {
                Some(event) => return Some(event),
                None => continue,
            }
        }
        let gap = match source.queue() {
            Some(queue) => match queue.next().await {
                QueueItem::Event(next) => {
                    if !source.covers(&next.event) {
                        source.pending().push_back(next);
                    }
                    None
                }
                QueueItem::Gap(reason, position) => Some((reason, position)),
                QueueItem::End => return None,
            },
            None => match Box::pin(source.read_log()).await {
                Ok(gap) => gap,
                Err(_) => {
                    tokio::time::sleep(RETRY_DELAY).await;
                    None
                }
            },
        };
        if let Some((reason, position)) = gap {
            return Some(source.skip_gap(reason, position));
        }
    }
}
