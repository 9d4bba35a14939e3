//! Dispatching: an event goes to the matching subscriptions, a gap goes to all, in steps between which the hub's lock is free.
//!
//! Only the listener dispatches, one event after another. The hub's position moves before the first step: a subscription that joins
//! between two steps has read the event or must read it. A subscription that leaves is not in the next step.

use super::chat_dispatch::ChatDispatch;
use super::envelope::Envelope;
use super::hub::{Hub, HubState, StatusQueue, SubscriberId, next_queues};
use super::index::{IndexSearch, STEP};
use super::model::GapReason;
use super::posting::InterestId;
use crate::platform::events::{Event, EventId, LogPosition, TermHasher};
use std::ops::Bound::{Excluded, Included};
use std::sync::Arc;
use tokio::task::yield_now;

/// An event that is being dispatched.
pub(super) struct Dispatch {
    envelope: Arc<Envelope<Event, LogPosition>>,
    term_hasher: TermHasher,
    search: IndexSearch,
    /// Matching interests that have not been served, in descending order; `None` while the search is running.
    interests: Option<Vec<InterestId>>,
    /// The last subscription that was served.
    served: SubscriberId,
    /// The number of the newest subscription when the dispatch began.
    last: u64,
}

impl Dispatch {
    /// Begins to dispatch an event. `None` if the event was dispatched before, or if no subscription matches it.
    pub(super) fn begin(state: &mut HubState, event: Event) -> Option<Self> {
        let (term_hasher, position) = (state.term_hasher?, state.position.as_mut()?);
        if position.covers(&event) {
            return None;
        }
        position.advance_to(&event);
        if event.chat.is_some() && state.chats.is_empty() {
            return None;
        }
        let mut search = IndexSearch::new(&term_hasher, &event);
        search.step(&state.index, &term_hasher, &event);
        if search.is_done() && search.found.is_empty() && event.chat.is_none() {
            return None;
        }
        let envelope = Envelope::new(event, position.clone());
        Some(Self { envelope, term_hasher, search, interests: None, served: (0, 0), last: state.last_number })
    }

    /// Does the next step; `false` after the last.
    pub(super) fn step(&mut self, hub: &Hub) -> bool {
        if !self.search.is_done() {
            self.search.step(&hub.state().index, &self.term_hasher, &self.envelope.event);
            return true;
        }
        let interests = self.interests.get_or_insert_with(|| {
            let mut interests = std::mem::take(&mut self.search.found);
            interests.sort_unstable();
            interests.dedup();
            interests.reverse();
            interests
        });
        let queues = next_queues(&hub.state(), interests, &mut self.served, self.last);
        // Outside of the lock, since this wakes the readers.
        queues.iter().for_each(|queue| queue.push(self.envelope.clone()));
        !interests.is_empty()
    }
}

impl Hub {
    async fn run_dispatch(&self, dispatch: Option<Dispatch>) {
        let Some(mut dispatch) = dispatch else { return };
        if dispatch.envelope.event.chat.is_some() {
            return self.dispatch_to_chat(ChatDispatch::new(dispatch.envelope, dispatch.last)).await;
        }
        while dispatch.step(self) {
            yield_now().await;
        }
    }

    /// Dispatches a received event if `before`, the previous event, is the last dispatched one. Returns `false` if it is not: events were missed, or the
    /// received event was read already, or Redis has lost events and starts again. Returns `true` without subscriptions.
    pub(super) async fn dispatch(&self, event: Event, before: EventId) -> bool {
        let (dispatch, is_handled) = {
            let mut state = self.state();
            let last = state.position.as_ref().and_then(|position| position.0.get(event.shard).copied());
            let follows = last == Some(before);
            (if follows { Dispatch::begin(&mut state, event) } else { None }, follows || last.is_none())
        };
        self.run_dispatch(dispatch).await;
        is_handled
    }

    /// Dispatches events that were read from the log; `false` if they were read in an earlier epoch.
    pub(super) async fn dispatch_all(&self, events: Vec<Event>, epoch: u64) -> bool {
        for (at, event) in events.into_iter().enumerate() {
            if at % STEP == STEP - 1 {
                yield_now().await;
            }
            let dispatch = {
                let mut state = self.state();
                if state.epoch != epoch {
                    return false;
                }
                Dispatch::begin(&mut state, event)
            };
            self.run_dispatch(dispatch).await;
        }
        true
    }

    /// Dispatches a gap to all subscriptions: events up to `position` are missing. Dispatches nothing if the epoch has changed.
    pub(super) async fn dispatch_gap(&self, reason: GapReason, position: LogPosition, epoch: u64) {
        let last = {
            let mut state = self.state();
            if state.epoch != epoch || state.position.is_none() {
                return;
            }
            state.position = Some(position.clone());
            state.last_number
        };
        let mut served = (0, 0);
        loop {
            let queues = queues_after(&self.state(), served);
            let Some((id, _)) = queues.last() else { return };
            served = *id;
            // Later subscriptions have missed nothing.
            let before = queues.iter().filter(|((_, number), _)| *number <= last);
            before.for_each(|(_, queue)| queue.replace_with_gap(reason, position.clone()));
            yield_now().await;
        }
    }
}

/// The next queues after a subscription, at most [`STEP`].
fn queues_after(state: &HubState, after: SubscriberId) -> Vec<(SubscriberId, Arc<StatusQueue>)> {
    let after = (Excluded(after), Included((InterestId::MAX, u64::MAX)));
    state.subscribers.range(after).take(STEP).map(|(id, queue)| (*id, queue.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::event_queue::QueueItem;
    use super::super::filter::Filter;
    use super::super::hub::HubSubscription;
    use super::super::indexer::Indexer;
    use super::super::interest::Interest;
    use super::*;
    use crate::base::ids::{StatusId, UserId};
    use crate::platform::events::EventKind;
    use futures_util::FutureExt;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const HASHER: TermHasher = TermHasher::new([7; 16]);
    const SHARDS: usize = 2;

    fn hub() -> Hub {
        let hub = Hub::default();
        hub.state().term_hasher = Some(HASHER);
        hub
    }

    fn begin() -> LogPosition {
        LogPosition(vec![EventId::default(); SHARDS])
    }

    /// A filter for the statuses of the first `authors` accounts, with one term for each in each of its lists.
    fn follow(authors: u64) -> Filter {
        let logins: Vec<String> = (1..=authors).map(|author| format!("u{author}")).collect();
        Filter::follow(&HASHER, &logins, &(1..=authors).map(UserId).collect::<Vec<_>>())
    }

    fn settle(hub: &Hub) {
        let indexer = Indexer::new(hub.clone());
        while indexer.step() {}
    }

    fn join(hub: &Hub, filter: Filter) -> HubSubscription {
        let interest = Interest::Public(hub.interest(None, filter));
        settle(hub);
        hub.try_subscribe(&interest, &begin()).expect("nothing was dispatched")
    }

    /// A simulation whose parts advance one step at a time, in any order.
    struct World {
        hub: Hub,
        /// All events, in order.
        log: Vec<Event>,
        indexer: Indexer,
        dispatch: Option<Dispatch>,
        all: Vec<TestSubscription>,
    }

    /// A subscription that works like [`super::super::subscription_stream`].
    struct TestSubscription {
        authors: u64,
        interest: Interest,
        joined: Option<HubSubscription>,
        position: LogPosition,
        /// The events that were received, and the length of the log when the subscription began.
        received: Vec<EventId>,
        from: usize,
    }

    impl World {
        fn post(&mut self, random: &mut StdRng) {
            let id = EventId { at: self.log.len() as u64 + 1, number: 0 };
            let author = UserId(random.random_range(1..=700));
            let (shard, terms) = (random.random_range(0..SHARDS), HASHER.status(author, "", None));
            self.log.push(Event { shard, id, kind: EventKind::Posted, status: StatusId(id.at), terms, repost: None, chat: None });
        }

        fn open(&mut self, authors: u64) {
            let mut position = begin();
            self.log.iter().for_each(|event| position.advance_to(event));
            let interest = Interest::Public(self.hub.interest(None, follow(authors)));
            let from = self.log.len();
            self.all.push(TestSubscription { authors, interest, joined: None, position, received: Vec::new(), from });
        }

        /// Runs the next step of the listener; `false` if there is nothing to do.
        fn listen(&mut self) -> bool {
            if let Some(dispatch) = &mut self.dispatch {
                if !dispatch.step(&self.hub) {
                    self.dispatch = None;
                }
                return true;
            }
            let mut state = self.hub.state();
            let Some(position) = state.position.clone() else { return false };
            let Some(event) = self.log.iter().find(|event| !position.covers(event)) else { return false };
            self.dispatch = Dispatch::begin(&mut state, event.clone());
            true
        }

        /// Runs the next step of a subscription; `false` if it waits.
        fn follow(&mut self, at: usize) -> bool {
            let it = &mut self.all[at];
            if let Some(joined) = &it.joined {
                return match joined.queue.next().now_or_never() {
                    Some(QueueItem::Event(next)) => {
                        if !it.position.covers(&next.event) {
                            it.received.push(next.event.id);
                            it.position.join(&next.position_after);
                        }
                        true
                    }
                    Some(_) => panic!("nothing was lost"),
                    None => false,
                };
            }
            let missed: Vec<&Event> = self.log.iter().filter(|event| !it.position.covers(event)).collect();
            if missed.is_empty() {
                it.joined = self.hub.try_subscribe(&it.interest, &it.position);
                return it.joined.is_some();
            }
            for event in missed {
                it.position.advance_to(event);
                it.received.extend(it.interest.matches(&HASHER, event).then_some(event.id));
            }
            true
        }

        fn check(&self, at: usize, seed: u64) {
            let it = &self.all[at];
            let authors: Vec<u64> = (1..=it.authors).map(|author| HASHER.author(UserId(author))).collect();
            let expected = self.log[it.from..].iter().filter(|event| authors.contains(&event.terms.author));
            let mut received = it.received.clone();
            // Events are ordered within a shard only.
            received.sort_unstable();
            assert_eq!(received, expected.map(|event| event.id).collect::<Vec<_>>(), "seed {seed}, {} authors", it.authors);
        }
    }

    #[test]
    fn every_subscription_receives_each_event_once_in_any_interleaving() {
        for seed in 0..16 {
            let mut random = StdRng::seed_from_u64(seed);
            let hub = hub();
            let indexer = Indexer::new(hub.clone());
            let mut world = World { hub, log: Vec::new(), indexer, dispatch: None, all: Vec::new() };
            for _ in 0..600 {
                match random.random_range(0..100) {
                    0..4 => world.open([3, 300, 600][random.random_range(0..3)]),
                    4..6 if !world.all.is_empty() => drop(world.all.swap_remove(random.random_range(0..world.all.len()))),
                    6..20 => world.post(&mut random),
                    20..40 => {
                        world.listen();
                    }
                    40..55 => {
                        world.indexer.step();
                    }
                    _ if !world.all.is_empty() => {
                        world.follow(random.random_range(0..world.all.len()));
                    }
                    _ => {}
                }
            }
            let mut works = true;
            while works {
                works = world.indexer.step() | world.listen();
                works |= (0..world.all.len()).fold(false, |works, at| world.follow(at) | works);
            }
            assert!(world.log.len() > 40 && world.all.iter().any(|it| it.received.len() > 4), "seed {seed} is too quiet a test");
            (0..world.all.len()).for_each(|at| world.check(at, seed));
            world.all.clear();
            settle(&world.hub);
            assert!(world.hub.is_idle(), "seed {seed}: the hub is not empty");
        }
    }

    #[test]
    fn equal_filters_share_one_interest_until_the_last_subscription_ends() {
        let hub = hub();
        let [one, other, third] = [follow(600), follow(600), follow(300)].map(|filter| join(&hub, filter));
        assert_eq!((one.id.0 == other.id.0, one.id.0 == third.id.0), (true, false));
        assert_eq!(hub.state().interests.len(), 2);
        drop(one);
        settle(&hub);
        assert_eq!(hub.state().interests.len(), 2);
        let posted = Event {
            shard: 0,
            id: EventId { at: 1, number: 0 },
            kind: EventKind::Posted,
            status: StatusId(1),
            terms: HASHER.status(UserId(500), "", None),
            repost: None,
            chat: None,
        };
        let mut dispatch = Dispatch::begin(&mut hub.state(), posted).expect("a subscription matches");
        while dispatch.step(&hub) {}
        assert!(other.queue.next().now_or_never().is_some() && third.queue.next().now_or_never().is_none());
        drop((other, third));
        assert!(!hub.is_idle(), "the indexer has not removed the interests yet");
        settle(&hub);
        assert!(hub.is_idle());
    }

    #[test]
    fn each_step_dispatches_an_event_to_a_bounded_number_of_subscriptions() {
        let hub = hub();
        let all: Vec<HubSubscription> = (0..3 * STEP).map(|_| join(&hub, follow(3))).collect();
        let (id, terms) = (EventId { at: 1, number: 0 }, HASHER.status(UserId(2), "", None));
        let posted = Event { shard: 0, id, kind: EventKind::Posted, status: StatusId(1), terms, repost: None, chat: None };
        let mut dispatch = Dispatch::begin(&mut hub.state(), posted).expect("a subscription matches");
        let (mut dispatched, mut has_more) = (0, true);
        while has_more {
            has_more = dispatch.step(&hub);
            let now = all.iter().filter(|joined| joined.queue.next().now_or_never().is_some()).count();
            assert!(now <= STEP, "{now} at once");
            dispatched += now;
        }
        assert_eq!(dispatched, 3 * STEP);
    }

    #[test]
    fn dropping_many_subscriptions_only_enqueues_their_removal() {
        let hub = hub();
        let all: Vec<HubSubscription> = (0..50).map(|more| join(&hub, follow(300 + more))).collect();
        drop(all);
        assert_eq!(hub.state().changes.len(), 50, "only the indexer removes interests");
        let (indexer, mut steps) = (Indexer::new(hub.clone()), 0);
        while indexer.step() {
            steps += 1;
        }
        assert!(steps >= 50 * 600 / STEP, "in {steps} bounded steps");
        assert!(hub.is_idle());
    }

    #[tokio::test]
    async fn a_gap_is_dispatched_to_earlier_subscriptions_only() {
        let hub = hub();
        let all: Vec<HubSubscription> = (0..3 * STEP).map(|_| join(&hub, follow(3))).collect();
        let position = LogPosition(vec![EventId { at: 9, number: 0 }; SHARDS]);
        let mut gap = Box::pin(hub.dispatch_gap(GapReason::Lost, position.clone(), 1));
        let has_gap =
            |joined: &&HubSubscription| matches!(joined.queue.next().now_or_never(), Some(QueueItem::Gap(GapReason::Lost, _)));
        assert!(gap.as_mut().now_or_never().is_none(), "the dispatch takes several steps");
        assert_eq!(all.iter().filter(has_gap).count(), STEP, "the first step");
        let interest = Interest::Public(hub.interest(None, follow(3)));
        assert!(hub.try_subscribe(&interest, &begin()).is_none(), "a new subscription must first read the log");
        let late = hub.try_subscribe(&interest, &position).expect("the new subscription is past the gap");
        gap.await;
        assert_eq!(all.iter().filter(has_gap).count(), 2 * STEP);
        assert!(late.queue.next().now_or_never().is_none());
    }
}
