//! Changes of the index that wait to be made. Changes of feeds go before those of filters, since a home must not wait for somebody else's filters. Within
//! each kind the accounts and addresses take turns, one bounded step each, so that nobody waits longer because of how much another one asks for.
//!
//! **Bounds.** What waits of an account's or an address's filters are those that it holds, which are bounded (`--filter-entries`), those of its
//! filters that the index has and nobody holds any more, and what is left of filters that ended before their turn: some 250 bytes each,
//! which are passed over by the hundreds in one step.

use super::change::{Change, Owner};
use super::index::{Index, STEP};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// Steps for feeds in a row while filters wait; then there is one for a filter, so that filters are indexed at a ninth of the speed at least.
const FEEDS_IN_A_ROW: usize = 8;

/// The changes that wait.
#[derive(Default)]
pub(super) struct Changes {
    feeds: Turns,
    filters: Turns,
    feeds_in_a_row: usize,
}

impl Changes {
    /// Adds a change, behind the others of its owner.
    pub(super) fn push(&mut self, change: Change) {
        self.turns(&change).add(change, VecDeque::push_back);
    }

    /// Gives back a change of which a part was made: it goes on when its owner has the next turn.
    pub(super) fn put_back(&mut self, change: Change) {
        self.turns(&change).add(change, VecDeque::push_front);
    }

    /// The change that goes on next, begun in the index; `None` where none waits. Also says whether more may wait.
    pub(super) fn next(&mut self, index: &mut Index) -> (Option<Change>, bool) {
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

    fn take(&mut self) -> Option<Change> {
        let is_turn_of_feeds = self.feeds_in_a_row < FEEDS_IN_A_ROW || self.filters.order.is_empty();
        if is_turn_of_feeds && let Some(change) = self.feeds.take() {
            self.feeds_in_a_row += 1;
            return Some(change);
        }
        self.feeds_in_a_row = 0;
        self.filters.take().or_else(|| self.feeds.take())
    }

    const fn turns(&mut self, change: &Change) -> &mut Turns {
        if change.is_of_a_feed() { &mut self.feeds } else { &mut self.filters }
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.feeds.order.is_empty() && self.filters.order.is_empty()
    }

    /// How many wait: for tests.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        [&self.feeds, &self.filters].into_iter().flat_map(|turns| turns.queues.values()).map(VecDeque::len).sum()
    }
}

/// A queue for each owner. Each has its place in `order` exactly while its queue is not empty.
#[derive(Default)]
struct Turns {
    queues: HashMap<Owner, VecDeque<Change>>,
    order: VecDeque<Owner>,
}

impl Turns {
    fn add(&mut self, change: Change, add: impl FnOnce(&mut VecDeque<Change>, Change)) {
        let owner = change.owner;
        let queue = self.queues.entry(owner).or_default();
        if queue.is_empty() {
            self.order.push_back(owner);
        }
        add(queue, change);
    }

    fn take(&mut self) -> Option<Change> {
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
