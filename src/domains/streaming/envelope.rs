//! An event on its way to the subscriptions that it concerns.

use super::shared_reply::SharedReply;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An event that is being dispatched, with the position of the log after it.
#[derive(Debug)]
pub(super) struct Envelope<E, P> {
    /// The event.
    pub(super) event: E,
    /// The position of the log after this event.
    pub(super) position_after: P,
    /// Identifies the event in this process, so that it is rendered once for all of its recipients.
    pub(super) id: u64,
    /// For an event of a status: whether the status is a reply.
    pub(super) reply: SharedReply,
}

impl<E, P> Envelope<E, P> {
    pub(super) fn new(event: E, position_after: P) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { event, position_after, id, reply: SharedReply::default() })
    }
}
