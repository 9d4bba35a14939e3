//! What was found for a subscription and waits for it to be taken: bounded, so that who does not keep up costs no more than others.

use super::model::GapReason;
use super::occasion::Occasion;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The most events that wait.
const MOST: usize = 256;

/// What waits.
#[derive(Debug)]
pub(super) enum Item<E, P> {
    /// An event.
    Event(Arc<Occasion<E, P>>),
    /// Something is missing up to this place.
    Gap(GapReason, P),
    /// Nothing follows.
    End,
}

/// A queue with one reader.
pub(super) struct Queue<E, P> {
    items: Mutex<VecDeque<Item<E, P>>>,
    more: Notify,
}

impl<E, P> Default for Queue<E, P> {
    fn default() -> Self {
        Self { items: Mutex::default(), more: Notify::new() }
    }
}

impl<E, P: Clone> Queue<E, P> {
    /// Puts something behind the rest. Where there is no room, all of it is dropped, which leaves a gap up to here.
    pub(super) fn push(&self, event: Arc<Occasion<E, P>>) {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MOST {
            *items = VecDeque::from([Item::Gap(GapReason::TooSlow, event.behind.clone())]);
        } else {
            items.push_back(Item::Event(event));
        }
        drop(items);
        self.more.notify_one();
    }

    /// A gap, which makes what waits before it needless to tell.
    pub(super) fn cut(&self, reason: GapReason, place: P) {
        *self.items.lock().unwrap_or_else(PoisonError::into_inner) = VecDeque::from([Item::Gap(reason, place)]);
        self.more.notify_one();
    }

    /// The end, behind which nothing comes.
    pub(super) fn end(&self) {
        self.items.lock().unwrap_or_else(PoisonError::into_inner).push_back(Item::End);
        self.more.notify_one();
    }

    /// The next one, once there is one.
    pub(super) async fn next(&self) -> Item<E, P> {
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
                None => self.more.notified().await,
            }
        }
    }
}
