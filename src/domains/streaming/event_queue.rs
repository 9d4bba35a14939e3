//! The queue of dispatched events of one subscription. The queue is bounded, so a slow client costs no more memory than others.

use super::envelope::Envelope;
use super::model::GapReason;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Maximum number of events that wait in a queue.
const MAX_LENGTH: usize = 256;

/// An element of the queue.
#[derive(Debug)]
pub(super) enum QueueItem<E, P> {
    /// An event.
    Event(Arc<Envelope<E, P>>),
    /// Events up to this position are missing.
    Gap(GapReason, P),
    /// The stream ends.
    End,
}

/// A bounded queue with one reader.
pub(super) struct EventQueue<E, P> {
    items: Mutex<VecDeque<QueueItem<E, P>>>,
    pushed: Notify,
}

impl<E, P> Default for EventQueue<E, P> {
    fn default() -> Self {
        Self { items: Mutex::default(), pushed: Notify::new() }
    }
}

impl<E, P: Clone> EventQueue<E, P> {
    /// Appends an event. A full queue is replaced by a gap up to this event.
    pub(super) fn push(&self, event: Arc<Envelope<E, P>>) {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MAX_LENGTH {
            *items = VecDeque::from([QueueItem::Gap(GapReason::TooSlow, event.position_after.clone())]);
        } else {
            items.push_back(QueueItem::Event(event));
        }
        drop(items);
        self.pushed.notify_one();
    }

    /// Replaces the queue by a gap.
    pub(super) fn replace_with_gap(&self, reason: GapReason, position: P) {
        *self.items.lock().unwrap_or_else(PoisonError::into_inner) = VecDeque::from([QueueItem::Gap(reason, position)]);
        self.pushed.notify_one();
    }

    /// Appends the end of the stream.
    pub(super) fn end(&self) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).push_back(QueueItem::End);
        self.pushed.notify_one();
    }

    /// Waits for the next element.
    pub(super) async fn next(&self) -> QueueItem<E, P> {
        loop {
            let next = {
                let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
                let next = items.pop_front();
                if items.is_empty() {
                    items.shrink_to(4);
                }
                next
            };
            match next {
                Some(item) => return item,
                None => self.pushed.notified().await,
            }
        }
    }
}
