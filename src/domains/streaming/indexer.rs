//! The task that changes the index. It works in bounded steps, so that a large filter holds neither the hub's lock nor a thread of the
//! runtime. Changes of one account or address are made in the order in which they were enqueued, feeds before filters; `change_queue` decides whose
//! change comes next. A subscription joins when its interest is indexed, and leaves before its interest is removed.

use super::hub::{Hub, HubState};
use super::index_change::{IndexChange, IndexedReceiver};
use tokio::runtime::Handle;

impl Hub {
    /// Enqueues a change after the owner's earlier changes of the same kind, and starts the indexer if none runs. Nothing more is done under the lock.
    pub(super) fn enqueue(&self, state: &mut HubState, change: IndexChange) -> IndexedReceiver {
        let indexed = change.indexed();
        state.changes.push(change);
        // There is no runtime when the process ends.
        if !state.has_indexer
            && let Ok(runtime) = Handle::try_current()
        {
            state.has_indexer = true;
            runtime.spawn(Indexer::new(self.clone()).run());
        }
        indexed
    }
}

/// Applies changes until the queue is empty.
pub(super) struct Indexer {
    hub: Hub,
}

impl Indexer {
    pub(super) const fn new(hub: Hub) -> Self {
        Self { hub }
    }

    async fn run(self) {
        while self.step() {
            tokio::task::yield_now().await;
        }
    }

    /// Applies the next part of a change; `false` if no change waits.
    pub(super) fn step(&self) -> bool {
        let mut change = match self.next() {
            (Some(change), _) => change,
            (None, more) => return more,
        };
        let (part, is_last) = change.take();
        let mut state = self.hub.state();
        change.apply(part, is_last, &mut state.index);
        if is_last {
            drop(state);
            change.finish();
        } else {
            state.changes.put_back(change);
        }
        true
    }

    fn next(&self) -> (Option<IndexChange>, bool) {
        let mut state = self.hub.state();
        let HubState { changes, index, has_indexer, .. } = &mut *state;
        let next = changes.next(index);
        *has_indexer = next.1;
        next
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::Filter;
    use super::super::index::STEP;
    use super::super::interest::FilterInterest;
    use super::super::posting::TermKind;
    use super::*;
    use crate::base::ids::UserId;
    use crate::platform::rates::Subject;
    use std::sync::Arc;

    const ADA: Option<Subject> = Some(Subject::Account(UserId(1)));
    const BOB: Option<Subject> = Some(Subject::Account(UserId(2)));
    /// The number of steps that adding a [`large_filter`] takes.
    const STEPS: usize = 5;

    fn large_filter(number: u64) -> Filter {
        let from = number * 10_000;
        Filter::Follow((from..from + (STEPS * STEP) as u64).collect(), Vec::new(), Vec::new())
    }

    fn add_authors(hub: &Hub, owner: Option<Subject>, authors: u64) -> IndexedReceiver {
        let mut state = hub.state();
        let key = state.next_interest();
        let sources = (0..authors).map(|author| (TermKind::Author, author)).collect();
        hub.enqueue(&mut state, IndexChange::add_sources(owner, key, sources))
    }

    /// Returns the number of steps until a change is made.
    fn steps_until(hub: &Hub, indexed: &IndexedReceiver) -> usize {
        let indexer = Indexer::new(hub.clone());
        let steps = (1..).find(|_| !indexer.step() || *indexed.borrow());
        assert!(*indexed.borrow(), "the change is never made");
        steps.unwrap_or_default()
    }

    /// Enqueues many filters of one client.
    fn enqueue_filters(hub: &Hub) -> Vec<Arc<FilterInterest>> {
        (0..100).map(|number| hub.interest(ADA, large_filter(number))).collect()
    }

    #[test]
    fn sources_of_a_feed_are_indexed_before_queued_filters() {
        let hub = Hub::default();
        let filters = enqueue_filters(&hub);
        Indexer::new(hub.clone()).step();
        let feed = add_authors(&hub, BOB, 2 * STEP as u64);
        assert_eq!(steps_until(&hub, &feed), 2);
        drop(filters);
    }

    #[test]
    fn a_client_does_not_wait_until_all_filters_of_another_are_indexed() {
        let hub = Hub::default();
        let filters = enqueue_filters(&hub);
        let own = [hub.interest(BOB, large_filter(200)), hub.interest(BOB, large_filter(201))];
        // One step of the other client goes before each step of this one.
        assert_eq!(steps_until(&hub, &own[0].indexed()), 2 * STEPS);
        assert_eq!(steps_until(&hub, &own[1].indexed()), 2 * STEPS, "a client's own filters are indexed in order");
        assert!(!*filters[99].indexed().borrow());
    }

    #[test]
    fn feeds_of_different_owners_are_indexed_in_turn() {
        let hub = Hub::default();
        let receivers: Vec<IndexedReceiver> = (0..100).map(|_| add_authors(&hub, ADA, (STEPS * STEP) as u64)).collect();
        let own = add_authors(&hub, BOB, 1);
        assert_eq!(steps_until(&hub, &own), 2);
        drop(receivers);
    }

    #[test]
    fn a_filter_is_indexed_while_feeds_change_continuously() {
        let hub = Hub::default();
        let receivers: Vec<IndexedReceiver> = (0..100).map(|_| add_authors(&hub, ADA, (STEPS * STEP) as u64)).collect();
        let filter = hub.interest(BOB, large_filter(0));
        let steps = steps_until(&hub, &filter.indexed());
        assert!(steps <= 9 * STEPS, "{steps}");
        drop(receivers);
    }

    #[test]
    fn a_filter_that_ends_in_the_queue_is_never_indexed() {
        let hub = Hub::default();
        drop(enqueue_filters(&hub));
        assert_eq!(hub.state().changes.len(), 100, "a dropped filter enqueues no removal");
        let indexer = Indexer::new(hub.clone());
        assert!(!indexer.step(), "one step skips all of them");
        assert!(hub.is_idle());
        // A filter that ends half-way is removed.
        let filter = hub.interest(ADA, large_filter(0));
        indexer.step();
        drop(filter);
        while indexer.step() {}
        assert!(hub.is_idle());
    }
}
