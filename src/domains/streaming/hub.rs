//! The hub of a process: which subscriptions wait for which interest, and up to where events have been dispatched.

use super::change_queue::ChangeQueue;
use super::chat_dispatch::{ChatDispatch, ChatInterest};
use super::event_queue;
use super::feed_sources::{FeedSources, wait_until_indexed};
use super::hidden_authors::HiddenAuthors;
use super::index::{Index, STEP};
use super::interest::{FilterDigest, FilterInterest, Interest};
use super::listener::Listener;
use super::posting::InterestId;
use crate::app::App;
use crate::base::ids::UserId;
use crate::db::pubsub::Subscriber;
use crate::platform::events::service as events;
use crate::platform::events::{Event, LogPosition, TermHasher};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Included};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{mpsc, watch};

/// The queue of one subscription to statuses.
pub(super) type StatusQueue = event_queue::EventQueue<Event, LogPosition>;
/// Identifies a subscription: its interest and its number. Later subscriptions have greater numbers.
pub(super) type SubscriberId = (InterestId, u64);

/// The hub of a process. Cheap to clone. Its lock is held for a bounded time, however many subscriptions and interests there are.
#[derive(Clone, Default)]
pub struct Hub(Arc<Mutex<HubState>>);

#[derive(Default)]
pub(super) struct HubState {
    subscriber: Option<Subscriber>,
    pub(super) term_hasher: Option<TermHasher>,
    /// The number of the newest subscription.
    pub(super) last_number: u64,
    last_interest: InterestId,
    pub(super) subscribers: BTreeMap<SubscriberId, Arc<StatusQueue>>,
    pub(super) index: Index,
    /// Changes of the index that wait to be applied.
    pub(super) changes: ChangeQueue,
    /// Whether a task applies `changes`.
    pub(super) has_indexer: bool,
    /// The filters with subscriptions, by the digest of their content.
    pub(super) interests: BTreeMap<FilterDigest, Weak<FilterInterest>>,
    /// The sources of feeds with subscriptions, by the id of the feed's owner or list.
    pub(super) feeds: BTreeMap<u64, Weak<FeedSources>>,
    /// The authors that are hidden from viewers with subscriptions, by the viewer's id.
    pub(super) hidden: BTreeMap<u64, Weak<HiddenAuthors>>,
    /// The interests of the accounts that subscribe to their chats.
    pub(super) chats: BTreeMap<UserId, (InterestId, Weak<ChatInterest>)>,
    /// The queue of the task that dispatches events of chats.
    pub(super) chat_dispatches: Option<mpsc::Sender<ChatDispatch>>,
    /// Channels that are watched: the number of watchers, and a counter of messages.
    watched: HashMap<String, (usize, watch::Sender<u64>)>,
    /// The last dispatched event of each shard; `None` without subscriptions.
    pub(super) position: Option<LogPosition>,
    /// Counts the starts of dispatching: events that were read in an earlier epoch are not dispatched.
    pub(super) epoch: u64,
    shards: usize,
}

impl HubState {
    /// Returns the id of a new interest.
    pub(super) const fn next_interest(&mut self) -> InterestId {
        self.last_interest += 1;
        self.last_interest
    }

    /// Notifies the watchers of a channel.
    pub(super) fn notify_watchers(&self, channel: &str) {
        if let Some((_, versions)) = self.watched.get(channel) {
            versions.send_modify(|version| *version += 1);
        }
    }

    /// Subscribes to a channel of each shard.
    pub(super) fn subscribe(&self, channel: fn(usize) -> String) {
        if let Some(subscriber) = &self.subscriber {
            (0..self.shards).for_each(|shard| subscriber.subscribe(channel(shard)));
        }
    }

    /// Ends the subscription to a channel of each shard.
    pub(super) fn unsubscribe(&self, channel: fn(usize) -> String) {
        if let Some(subscriber) = &self.subscriber {
            (0..self.shards).for_each(|shard| subscriber.unsubscribe(channel(shard)));
        }
    }

    fn unwatch(&mut self, channel: &str) {
        let Some(watched) = self.watched.get_mut(channel) else { return };
        watched.0 -= 1;
        if watched.0 == 0 {
            self.watched.remove(channel);
            if let Some(subscriber) = &self.subscriber {
                subscriber.unsubscribe(channel.to_owned());
            }
        }
    }
}

/// Returns the next queues of subscriptions to any of `interests`, at most [`STEP`], up to the subscription with the number `last`. `interests` are
/// in descending order; those that have been served are removed. `served` is the last subscription whose queue was returned.
pub(super) fn next_queues(
    state: &HubState,
    interests: &mut Vec<InterestId>,
    served: &mut SubscriberId,
    last: u64,
) -> Vec<Arc<StatusQueue>> {
    let (mut queues, mut left) = (Vec::new(), STEP);
    while let Some(interest) = interests.last().copied()
        && left > 0
    {
        let after = (*served).max((interest, 0));
        for (id, queue) in state.subscribers.range((Excluded(after), Included((interest, last)))).take(left) {
            (*served, left) = (*id, left - 1);
            queues.push(queue.clone());
        }
        if left > 0 {
            interests.pop();
            // An interest without subscriptions counts as work, too.
            left -= 1;
        }
    }
    queues
}

/// A subscription that has joined the hub. Dropping the value ends the subscription.
pub(super) struct HubSubscription {
    hub: Hub,
    pub(super) id: SubscriberId,
    /// Held until the subscription ends: the interest leaves the index with its last subscription.
    _interest: Interest,
    pub(super) queue: Arc<StatusQueue>,
}

impl Drop for HubSubscription {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.subscribers.remove(&self.id);
        if state.subscribers.is_empty() {
            state.position = None;
            state.unsubscribe(events::channel);
        }
    }
}

/// A watch of a channel. Dropping the last watch of a channel unsubscribes.
pub(super) struct ChannelWatch {
    hub: Hub,
    channel: String,
    versions: watch::Receiver<u64>,
}

impl ChannelWatch {
    /// Waits until a message has arrived since the last call, or may have been missed.
    pub(super) async fn changed(&mut self) {
        if self.versions.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for ChannelWatch {
    fn drop(&mut self) {
        self.hub.state().unwatch(&self.channel);
    }
}

impl Hub {
    pub(super) fn state(&self) -> MutexGuard<'_, HubState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the pub/sub connection to Redis, and opens it at the first call.
    pub(super) fn subscriber(&self, app: &App, term_hasher: TermHasher, state: &mut HubState) -> Subscriber {
        if let Some(subscriber) = &state.subscriber {
            return subscriber.clone();
        }
        let (subscriber, messages) = Subscriber::open(app.db().clone());
        (state.subscriber, state.term_hasher, state.shards) =
            (Some(subscriber.clone()), Some(term_hasher), events::shard_count(app));
        tokio::spawn(Listener::new(app.clone(), self.clone(), term_hasher).run(messages));
        subscriber
    }

    /// Watches the [`events::changes_channel`] of an account, list, status or JSON Web Token from now on. No round trip.
    pub(super) fn watch(&self, app: &App, term_hasher: TermHasher, id: u64) -> ChannelWatch {
        self.watch_channel(app, term_hasher, events::changes_channel(id))
    }

    /// Watches a channel from now on. No round trip.
    pub(super) fn watch_channel(&self, app: &App, term_hasher: TermHasher, channel: String) -> ChannelWatch {
        let mut state = self.state();
        let subscriber = self.subscriber(app, term_hasher, &mut state);
        let (count, sender) = state.watched.entry(channel.clone()).or_insert_with(|| (0, watch::Sender::new(0)));
        *count += 1;
        if *count == 1 {
            subscriber.subscribe(channel.clone());
        }
        ChannelWatch { hub: self.clone(), versions: sender.subscribe(), channel }
    }

    /// Subscribes to events after the position `after` that were not dispatched yet. Waits until the interest is indexed. `None` if the hub has
    /// dispatched events after `after`, before this call or during the wait: the caller must read these events from the log first.
    pub(super) async fn subscribe(
        &self,
        app: &App,
        term_hasher: TermHasher,
        interest: &Interest,
        after: &LogPosition,
    ) -> Option<HubSubscription> {
        drop(self.subscriber(app, term_hasher, &mut self.state()));
        wait_until_indexed(interest.indexed()).await;
        self.try_subscribe(interest, after)
    }

    /// Subscribes as [`Self::subscribe`], without waiting; `None` also if the interest is not indexed yet.
    pub(super) fn try_subscribe(&self, interest: &Interest, after: &LogPosition) -> Option<HubSubscription> {
        if !*interest.indexed().borrow() {
            return None;
        }
        let mut state = self.state();
        match &state.position {
            Some(position) if position.0.iter().zip(&after.0).any(|(dispatched, read)| dispatched > read) => return None,
            Some(_) => {}
            None => {
                state.subscribe(events::channel);
                // The listener reads the log after the channels are subscribed, and finds events that are published until then.
                state.position = Some(after.clone());
                state.epoch += 1;
            }
        }
        state.last_number += 1;
        let (id, queue) = ((interest.id(), state.last_number), Arc::new(StatusQueue::default()));
        state.subscribers.insert(id, queue.clone());
        Some(HubSubscription { hub: self.clone(), id, _interest: interest.clone(), queue })
    }

    /// The number of subscriptions that have joined.
    pub fn subscriber_count(&self) -> usize {
        self.state().subscribers.len()
    }

    /// The number of sources of a feed with subscriptions, by the id of its owner or list; `None` without subscriptions or while the index
    /// changes. For tests.
    pub fn source_count(&self, id: u64) -> Option<usize> {
        let sources = self.state().feeds.get(&id).and_then(Weak::upgrade)?;
        sources.count()
    }

    /// Whether there are no subscriptions, watches and pending changes. For tests.
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        let is_settled = state.changes.is_empty() && !state.has_indexer && state.index.is_empty();
        is_settled && state.subscribers.is_empty() && state.watched.is_empty() && state.chats.is_empty()
    }
}
