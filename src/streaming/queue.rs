//! What was found for a subscription and waits for it to be taken: bounded, so that who does not keep up costs no more than others.

use super::model::GapReason;
use super::occasion::Occasion;
use crate::events::Position;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The most events that wait.
const MOST: usize = 256;

/// What waits.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// An event.
    Event(Arc<Occasion>),
    /// Something is missing up to this place.
    Gap(GapReason, Arc<Position>),
}

/// A queue with one reader.
#[derive(Default)]
pub(super) struct Queue {
    items: Mutex<VecDeque<Item>>,
    more: Notify,
}

impl Queue {
    /// Puts something behind the rest. Where there is no room, all of it is dropped, which leaves a gap up to here.
    pub(super) fn push(&self, item: Item) {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MOST {
            let place = match item {
                Item::Event(event) => Arc::new(event.behind.clone()),
                Item::Gap(_, place) => place,
            };
            *items = VecDeque::from([Item::Gap(GapReason::TooSlow, place)]);
        } else {
            items.push_back(item);
        }
        drop(items);
        self.more.notify_one();
    }

    /// A gap, which makes what waits before it needless to tell.
    pub(super) fn cut(&self, reason: GapReason, place: Arc<Position>) {
        *self.items.lock().unwrap_or_else(PoisonError::into_inner) = VecDeque::from([Item::Gap(reason, place)]);
        self.more.notify_one();
    }

    /// The next one, once there is one.
    pub(super) async fn next(&self) -> Item {
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
