//! The queue of changes of the index of subscriptions (`index.rs`). Changes of feeds go before changes of filters, so that a subscription to a home
//! timeline does not wait for the filters of other clients. Within each kind the accounts and addresses take turns, one bounded step each.
//!
//! **Bounds.** The waiting changes of an account or address concern its open filters, which are bounded (`--filter-entries`), indexed
//! filters without subscriptions, and filters that ended before they were indexed: about 250 bytes each. One step skips up to [`STEP`] filters of the
//! last kind.

use super::index::{Index, STEP};
use super::index_change::{IndexChange, Owner};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// Steps for feeds in a row while filters wait. One step for a filter follows, so filters get at least a ninth of the steps.
const FEEDS_IN_A_ROW: usize = 8;

/// The queue of changes that wait to be applied to the index.
#[derive(Default)]
pub(super) struct ChangeQueue {
    feeds: FairQueue,
    filters: FairQueue,
    feeds_in_a_row: usize,
}

impl ChangeQueue {
    /// Appends a change to the queue of its owner.
    pub(super) fn push(&mut self, change: IndexChange) {
        self.queue_for(&change).add(change, VecDeque::push_back);
    }

    /// Puts a partly applied change back at the front of its owner's queue.
    pub(super) fn put_back(&mut self, change: IndexChange) {
        self.queue_for(&change).add(change, VecDeque::push_front);
    }

    /// Removes the next change from the queue and begins to apply it to the index. Skips up to [`STEP`] obsolete changes, and returns no change after
    /// them. The flag is `false` only if the queue is empty.
    pub(super) fn next(&mut self, index: &mut Index) -> (Option<IndexChange>, bool) {
        for _ in 0..STEP {
            match self.take() {
                None => return (None, false),
                Some(mut change) => {
                    if change.begin(index) {
                        return (Some(change), true);
                    }
                }
            }
        }
        (None, true)
    }

    fn take(&mut self) -> Option<IndexChange> {
        let is_feed_turn = self.feeds_in_a_row < FEEDS_IN_A_ROW || self.filters.order.is_empty();
        if is_feed_turn && let Some(change) = self.feeds.take() {
            self.feeds_in_a_row += 1;
            return Some(change);
        }
        self.feeds_in_a_row = 0;
        self.filters.take().or_else(|| self.feeds.take())
    }

    const fn queue_for(&mut self, change: &IndexChange) -> &mut FairQueue {
        if change.changes_feed() { &mut self.feeds } else { &mut self.filters }
    }

    /// Whether no change waits.
    pub(super) fn is_empty(&self) -> bool {
        self.feeds.order.is_empty() && self.filters.order.is_empty()
    }

    /// The number of changes that wait. For tests.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        [&self.feeds, &self.filters].into_iter().flat_map(|queue| queue.queues.values()).map(VecDeque::len).sum()
    }
}

/// A queue for each owner. Each owner is in `order` exactly while its queue is not empty.
#[derive(Default)]
struct FairQueue {
    queues: HashMap<Owner, VecDeque<IndexChange>>,
    order: VecDeque<Owner>,
}

impl FairQueue {
    fn add(&mut self, change: IndexChange, add: impl FnOnce(&mut VecDeque<IndexChange>, IndexChange)) {
        let owner = change.owner;
        let queue = self.queues.entry(owner).or_default();
        if queue.is_empty() {
            self.order.push_back(owner);
        }
        add(queue, change);
    }

    fn take(&mut self) -> Option<IndexChange> {
        let owner = self.order.pop_front()?;
        let Entry::Occupied(mut queue) = self.queues.entry(owner) else { return None };
        let change = queue.get_mut().pop_front();
        if queue.get().is_empty() {
            queue.remove();
        } else {
            self.order.push_back(owner);
        }
        change
    }
}
