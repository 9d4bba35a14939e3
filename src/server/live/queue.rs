//! The bounded queue of messages to one client. An operation that finds the queue full waits, in the order of arrival, so that one busy
//! subscription does not starve the others of the same client.

use super::operations::OperationHandle;
use crate::server::unread::{AddressBacklog, UnreadBytes};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The capacity of a queue in units. A message takes one unit for each 4 KiB, and at least one.
const CAPACITY: usize = 64;
/// The bytes of a message for each unit: a queue holds 256 KiB, or a single longer message.
const UNIT_BYTES: usize = 4 << 10;

/// A message of an operation to its client.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) enum OutgoingMessage {
    /// A result as JSON, with the cursor of the event that it shows.
    Next(Arc<str>, Option<String>),
    /// The operation was not executed, or an internal error has ended it: the list of errors as JSON. It is the last message of the operation.
    Error(String),
    /// The operation has ended.
    Complete,
}

/// A message that waits to be written, with the capacity and the unread bytes that it takes.
pub(in crate::server) struct QueuedMessage {
    pub(in crate::server) handle: Arc<OperationHandle>,
    pub(in crate::server) message: OutgoingMessage,
    _permits: OwnedSemaphorePermit,
    _reserved: UnreadBytes,
}

/// The sending half of a queue. Cheap to clone.
#[derive(Clone)]
pub(in crate::server) struct MessageSender {
    items: mpsc::UnboundedSender<QueuedMessage>,
    capacity: Arc<Semaphore>,
    backlog: Arc<AddressBacklog>,
}

/// The receiving half of a queue.
pub(in crate::server) type MessageQueue = mpsc::UnboundedReceiver<QueuedMessage>;

/// An empty queue, whose messages are counted in `backlog`.
pub(in crate::server) fn queue(backlog: Arc<AddressBacklog>) -> (MessageSender, MessageQueue) {
    let (items, queue) = mpsc::unbounded_channel();
    (MessageSender { items, capacity: Arc::new(Semaphore::new(CAPACITY)), backlog }, queue)
}

impl OutgoingMessage {
    fn bytes(&self) -> usize {
        match self {
            Self::Next(text, _) => text.len(),
            Self::Error(text) => text.len(),
            Self::Complete => 0,
        }
    }

    fn units(&self) -> u32 {
        self.bytes().div_ceil(UNIT_BYTES).clamp(1, CAPACITY) as u32
    }

    /// Whether this is the last message of its operation.
    pub(in crate::server) const fn is_last(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Complete)
    }
}

impl MessageSender {
    /// Waits for capacity, and enqueues a message. The message counts as unread from the call on. Returns whether it is the last message of
    /// its operation: where the address has too many unread bytes, an error is sent instead and ends the operation. Does nothing once the
    /// receiver is dropped.
    pub(in crate::server) async fn send(&self, handle: &Arc<OperationHandle>, message: OutgoingMessage) -> bool {
        let (message, reserved) = match self.backlog.reserve(message.bytes()) {
            // A message without a payload adds nothing.
            Err(_) if message.bytes() == 0 => (message, self.backlog.reserve_unbounded(0)),
            Ok(reserved) => (message, reserved),
            // The refusal itself is short.
            Err(refusal) => (OutgoingMessage::Error(refusal.errors().to_string()), self.backlog.reserve_unbounded(0)),
        };
        self.enqueue(handle, message, reserved).await
    }

    /// As [`Self::send`], however many bytes are unread: for the results of mutations.
    pub(in crate::server) async fn send_unbounded(&self, handle: &Arc<OperationHandle>, message: OutgoingMessage) -> bool {
        let reserved = self.backlog.reserve_unbounded(message.bytes());
        self.enqueue(handle, message, reserved).await
    }

    async fn enqueue(&self, handle: &Arc<OperationHandle>, message: OutgoingMessage, reserved: UnreadBytes) -> bool {
        let is_last = message.is_last();
        if let Ok(capacity) = self.capacity.clone().acquire_many_owned(message.units()).await {
            // The receiver is dropped when the client has disconnected.
            let _ = self.items.send(QueuedMessage { handle: handle.clone(), message, _permits: capacity, _reserved: reserved });
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::unread::UnreadResponses;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn the_queue_is_bounded_and_fair() {
        let (out, mut queue) = queue(UnreadResponses::bounded(1 << 30, 1 << 30).await.backlog(None));
        let [hot, cold] = ["hot", "cold"].map(|id| Arc::new(OperationHandle::new(id.into())));
        for _ in 0..CAPACITY {
            out.send(&hot, OutgoingMessage::Complete).now_or_never().expect("the queue is not full");
        }
        let send = |handle: &Arc<OperationHandle>, times: usize| {
            let (out, handle) = (out.clone(), handle.clone());
            tokio::spawn(async move {
                for _ in 0..times {
                    out.send(&handle, OutgoingMessage::Complete).await;
                }
            })
        };
        let busy = send(&hot, 1_000);
        tokio::task::yield_now().await;
        let waits = send(&cold, 1);
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        let mut before = 0;
        while queue.recv().await.expect("an item").handle.id == "hot" {
            before += 1;
            tokio::task::yield_now().await;
        }
        assert!(before <= CAPACITY + 1, "{before} messages of the busy operation came first");
        busy.abort();
    }

    #[tokio::test]
    async fn a_long_message_takes_several_units_and_the_longest_fits_alone() {
        let (out, mut queue) = queue(UnreadResponses::bounded(1 << 30, 1 << 30).await.backlog(None));
        let handle = Arc::new(OperationHandle::new("a".into()));
        out.send(&handle, OutgoingMessage::Next("x".repeat(10 * CAPACITY * UNIT_BYTES).into(), None))
            .now_or_never()
            .expect("the queue has capacity");
        let mut waits = Box::pin(out.send(&handle, OutgoingMessage::Complete));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(queue.recv().await);
        waits.now_or_never().expect("the queue is empty again");
        assert_eq!(OutgoingMessage::Next("x".repeat(UNIT_BYTES + 1).into(), None).units(), 2);
    }

    #[tokio::test]
    async fn waiting_messages_count_as_unread_and_too_many_end_with_an_error() {
        let address = Some(std::net::IpAddr::from([192, 0, 2, 1]));
        let backlog = UnreadResponses::bounded(1 << 20, 1 << 30).await.backlog(address);
        let (out, mut queue) = queue(backlog.clone());
        let handle = Arc::new(OperationHandle::new("a".into()));
        let long = || OutgoingMessage::Next("x".repeat(400 << 10).into(), None);
        assert!(!out.send(&handle, long()).now_or_never().expect("the queue has capacity"));
        let mut waits = Box::pin(out.send(&handle, long()));
        assert!(waits.as_mut().now_or_never().is_none());
        let mut refused = Box::pin(out.send(&handle, long()));
        let mut changed = Box::pin(out.send_unbounded(&handle, long()));
        assert!(refused.as_mut().now_or_never().is_none() && changed.as_mut().now_or_never().is_none());
        let next = async |queue: &mut MessageQueue| queue.recv().await.map(|item| item.message);
        assert_eq!(next(&mut queue).await, Some(long()));
        assert!(!waits.await);
        assert_eq!(next(&mut queue).await, Some(long()));
        assert!(refused.await, "the operation ends");
        let Some(OutgoingMessage::Error(error)) = next(&mut queue).await else { panic!("no error") };
        assert!(error.contains("UNREAD_RESPONSES") && error.contains("addressUnreadBytes"), "{error}");
        assert!(!changed.await);
        assert!(backlog.reserve(700 << 10).is_err(), "the result of a mutation counts until it is read");
        assert_eq!(next(&mut queue).await, Some(long()), "the result of a mutation is sent");
        assert!(backlog.reserve(1 << 20).is_ok(), "nothing waits any more");
    }
}
