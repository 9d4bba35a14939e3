//! One a process: who waits for what, and how far what happens has been handed out.

use super::audience::{Audience, wait};
use super::index::{Index, Key};
use super::interest::{Digest, FilterInterest, Wanted};
use super::listener::Listener;
use super::queue;
use super::turns::Changes;
use crate::app::App;
use crate::db::pubsub::Subscriber;
use crate::platform::events::service as events;
use crate::platform::events::{Event, LogPosition, TermHasher};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// What is handed to one subscription.
pub(super) type Queue = queue::Queue<Event, LogPosition>;
/// A subscription that has joined: what it waits for, and its number. Later ones have greater numbers.
pub(super) type SubscriberId = (Key, u64);

/// The hub of a process. Cheap to clone. Its lock is held for a bounded time, however many subscriptions there are and whatever they wait for.
#[derive(Clone, Default)]
pub struct Hub(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    subscriber: Option<Subscriber>,
    pub(super) term_hasher: Option<TermHasher>,
    /// The last number of a subscription.
    pub(super) last: u64,
    last_key: Key,
    pub(super) subscribers: BTreeMap<SubscriberId, Arc<Queue>>,
    pub(super) index: Index,
    /// Changes of the index that wait to be made.
    pub(super) changes: Changes,
    /// Whether a task makes them.
    pub(super) has_indexer: bool,
    /// The filters that somebody waits for, by their content.
    pub(super) interests: BTreeMap<Digest, Weak<FilterInterest>>,
    pub(super) audiences: BTreeMap<u64, Weak<Audience>>,
    /// The channels of which somebody wants to know when something is said on them, how many do, and how often that was.
    watched: HashMap<String, (usize, watch::Sender<u64>)>,
    /// The last event of each shard that was handed out; `None` while nobody listens.
    pub(super) position: Option<LogPosition>,
    /// How often somebody has begun to listen: what was read before says nothing of what comes after.
    pub(super) era: u64,
    shards: usize,
}

impl State {
    /// A number for a new interest.
    pub(super) const fn next_key(&mut self) -> Key {
        self.last_key += 1;
        self.last_key
    }

    /// Somebody has said something on a channel.
    pub(super) fn said_on(&self, channel: &str) {
        if let Some((_, versions)) = self.watched.get(channel) {
            versions.send_modify(|version| *version += 1);
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

/// A subscription that has joined. It leaves when this is dropped.
pub(super) struct Joined {
    hub: Hub,
    pub(super) id: SubscriberId,
    /// Kept behind the subscription itself: it leaves the index when nobody waits for it.
    _wanted: Wanted,
    pub(super) queue: Arc<Queue>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.subscribers.remove(&self.id);
        if state.subscribers.is_empty() {
            state.position = None;
            if let Some(subscriber) = &state.subscriber {
                (0..state.shards).for_each(|shard| subscriber.unsubscribe(events::channel(shard)));
            }
        }
    }
}

/// Waits for what is said on a channel.
pub(super) struct Watch {
    hub: Hub,
    channel: String,
    versions: watch::Receiver<u64>,
}

impl Watch {
    /// Ends when something was said since the last time, or may have been.
    pub(super) async fn changed(&mut self) {
        if self.versions.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.hub.state().unwatch(&self.channel);
    }
}

impl Hub {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bridge; the first to ask has it built.
    fn subscriber(&self, app: &App, term_hasher: TermHasher, state: &mut State) -> Subscriber {
        if let Some(subscriber) = &state.subscriber {
            return subscriber.clone();
        }
        let (subscriber, heard) = Subscriber::open(app.db().clone());
        (state.subscriber, state.term_hasher, state.shards) =
            (Some(subscriber.clone()), Some(term_hasher), events::shard_count(app));
        tokio::spawn(Listener::new(app.clone(), self.clone(), term_hasher).run(heard));
        subscriber
    }

    /// Waits for changes of an account or a list from now on. No round trip.
    pub(super) fn watch(&self, app: &App, term_hasher: TermHasher, id: u64) -> Watch {
        self.watch_channel(app, term_hasher, events::changes_channel(id))
    }

    /// Waits for what is said on a channel from now on. No round trip.
    pub(super) fn watch_channel(&self, app: &App, term_hasher: TermHasher, channel: String) -> Watch {
        let mut state = self.state();
        let subscriber = self.subscriber(app, term_hasher, &mut state);
        let (count, sender) = state.watched.entry(channel.clone()).or_insert_with(|| (0, watch::Sender::new(0)));
        *count += 1;
        if *count == 1 {
            subscriber.subscribe(channel.clone());
        }
        Watch { hub: self.clone(), versions: sender.subscribe(), channel }
    }

    /// Joins those to whom events are handed out, from the first one on that comes after `place` and was not handed out yet. `None` if
    /// some that come after it were: they are to be read first. Waits until the index has all of what is wanted: events that are handed out
    /// meanwhile are among those that are to be read.
    pub(super) async fn join(&self, app: &App, term_hasher: TermHasher, wanted: &Wanted, place: &LogPosition) -> Option<Joined> {
        drop(self.subscriber(app, term_hasher, &mut self.state()));
        wait(wanted.indexed()).await;
        self.enter(wanted, place)
    }

    /// Joins, if the index has all of what is wanted.
    pub(super) fn enter(&self, wanted: &Wanted, place: &LogPosition) -> Option<Joined> {
        if !*wanted.indexed().borrow() {
            return None;
        }
        let mut state = self.state();
        match &state.position {
            Some(position) if position.0.iter().zip(&place.0).any(|(handed, read)| handed > read) => return None,
            Some(_) => {}
            None => {
                if let Some(subscriber) = &state.subscriber {
                    (0..state.shards).for_each(|shard| subscriber.subscribe(events::channel(shard)));
                }
                // What was told since is found by its look as soon as it listens.
                state.position = Some(place.clone());
                state.era += 1;
            }
        }
        state.last += 1;
        let (id, queue) = ((wanted.key(), state.last), Arc::new(Queue::default()));
        state.subscribers.insert(id, queue.clone());
        Some(Joined { hub: self.clone(), id, _wanted: wanted.clone(), queue })
    }

    /// How many subscriptions wait for what comes.
    pub fn waiting(&self) -> usize {
        self.state().subscribers.len()
    }

    /// How many sources a feed that somebody waits for has, by its owner's or the list's id; `None` when nobody does, or while the index
    /// changes. For tests.
    pub fn sources_of(&self, id: u64) -> Option<usize> {
        let audience = self.state().audiences.get(&id).and_then(Weak::upgrade)?;
        audience.count()
    }

    /// Whether nobody waits for anything: for tests.
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        let is_settled = state.changes.is_empty() && !state.has_indexer && state.index.is_empty();
        is_settled && state.subscribers.is_empty() && state.watched.is_empty()
    }
}
