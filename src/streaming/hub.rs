//! One a process: hears what is told, and hands it to the subscriptions that it concerns.

use super::course::AGAIN;
use super::filter::Filter;
use super::index::{Id, Index};
use super::model::GapReason;
use super::occasion::Occasion;
use super::queue;
use crate::app::App;
use crate::db::bridge::{Bridge, Heard as Pushed};
use crate::error::Error;
use crate::events::service::{self as events, Heard};
use crate::events::{Event, EventId, Marker, Position, Read};
use crate::jobs::Feed;
use crate::timelines::service as timelines;
use futures_util::future::try_join_all;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// How often it is looked whether something was missed.
const LOOK: Duration = Duration::from_secs(10);
/// Feeds whose sources are read at once.
const AT_ONCE: usize = 50;
/// Events of each shard, and feeds, that are looked at together.
const PAGE: usize = 1_000;

/// What is handed to one subscription.
type Queue = queue::Queue<Event, Position>;

/// What a subscription waits for.
#[derive(Clone)]
pub(super) enum Wanted {
    /// What comes into a feed.
    Feed(Arc<Audience>),
    /// What a filter wants of the public stream.
    Public(Arc<Filter>),
}

impl Wanted {
    /// Whether it wants an event.
    pub(super) fn wants(&self, marker: &Marker, event: &Event) -> bool {
        match self {
            Self::Feed(audience) => audience.has(event.marks.author),
            Self::Public(filter) => filter.wants(marker, event),
        }
    }
}

/// Whose statuses a feed shows, as marks of authors. Kept up to date while somebody holds it.
pub(super) struct Audience {
    feed: Feed,
    hub: Hub,
    now: Mutex<Sources>,
    _watch: Watch,
}

#[derive(Default)]
struct Sources {
    authors: Arc<HashSet<u64>>,
    /// How often they had changed when they were read; `None` before that.
    edges: Option<u64>,
}

impl Audience {
    /// Whether an author is one of them now.
    pub(super) fn has(&self, author: u64) -> bool {
        self.sources().authors.contains(&author)
    }

    fn sources(&self) -> MutexGuard<'_, Sources> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Audience {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        // Another may have been made meanwhile, and stands in its place.
        if state.audiences.get(&self.feed.tag()).is_some_and(|it| it.strong_count() == 0) {
            state.audiences.remove(&self.feed.tag());
            let authors = self.sources().authors.clone();
            state.index.change_sources(self.feed.tag(), &authors, &HashSet::new());
        }
    }
}

/// Cheap to clone.
#[derive(Clone, Default)]
pub struct Hub(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    bridge: Option<Bridge>,
    marker: Option<Marker>,
    next: Id,
    subscriptions: HashMap<Id, Arc<Queue>>,
    index: Index,
    audiences: HashMap<u64, std::sync::Weak<Audience>>,
    /// The channels of which somebody wants to know when something is said on them, how many do, and how often that was.
    watched: HashMap<String, (usize, watch::Sender<u64>)>,
    /// The last event of each shard that was handed out; `None` while nobody listens.
    position: Option<Position>,
    /// How often somebody has begun to listen: what was read before says nothing of what comes after.
    era: u64,
    shards: usize,
}

impl State {
    /// Hands an event out, unless that was done.
    fn hand_out(&mut self, event: Event) {
        let (Some(marker), Some(position)) = (self.marker, self.position.as_mut()) else { return };
        if position.is_past(&event) {
            return;
        }
        position.pass(&event);
        let found = self.index.find(&marker, &event);
        if found.is_empty() {
            return;
        }
        let event = Occasion::new(event, position.clone());
        for queue in found.iter().filter_map(|id| self.subscriptions.get(id)) {
            queue.push(event.clone());
        }
    }

    fn unwatch(&mut self, channel: &str) {
        let Some(watched) = self.watched.get_mut(channel) else { return };
        watched.0 -= 1;
        if watched.0 == 0 {
            self.watched.remove(channel);
            if let Some(bridge) = &self.bridge {
                bridge.leave(channel.to_owned());
            }
        }
    }
}

/// A subscription that has joined. It leaves when this is dropped.
pub(super) struct Joined {
    hub: Hub,
    id: Id,
    wanted: Wanted,
    pub(super) queue: Arc<Queue>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.subscriptions.remove(&self.id);
        match &self.wanted {
            Wanted::Feed(audience) => state.index.remove_from_feed(self.id, audience.feed.tag()),
            Wanted::Public(filter) => state.index.remove(self.id, filter),
        }
        if state.subscriptions.is_empty() {
            state.position = None;
            if let Some(bridge) = &state.bridge {
                (0..state.shards).for_each(|shard| bridge.leave(events::channel(shard)));
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
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bridge; the first to ask has it built.
    fn bridge(&self, app: &App, marker: Marker, state: &mut State) -> Bridge {
        if let Some(bridge) = &state.bridge {
            return bridge.clone();
        }
        let (bridge, heard) = Bridge::open(app.db().clone());
        (state.bridge, state.marker, state.shards) = (Some(bridge.clone()), Some(marker), events::shards(app));
        tokio::spawn(
            Hearing { app: app.clone(), hub: self.clone(), behind: None, doubtful: HashSet::new(), everybody: false }.run(heard),
        );
        bridge
    }

    /// Waits for changes of an account or a list from now on. No round trip.
    pub(super) fn watch(&self, app: &App, marker: Marker, id: u64) -> Watch {
        self.watch_channel(app, marker, events::changes_channel(id))
    }

    /// Waits for what is said on a channel from now on. No round trip.
    pub(super) fn watch_channel(&self, app: &App, marker: Marker, channel: String) -> Watch {
        let mut state = self.state();
        let bridge = self.bridge(app, marker, &mut state);
        let (count, sender) = state.watched.entry(channel.clone()).or_insert_with(|| (0, watch::Sender::new(0)));
        *count += 1;
        if *count == 1 {
            bridge.listen(channel.clone());
        }
        Watch { hub: self.clone(), versions: sender.subscribe(), channel }
    }

    /// The audience of a feed, one for all who wait for it. One round trip for the first.
    pub(super) async fn audience(&self, app: &App, marker: Marker, feed: Feed) -> Result<Arc<Audience>, Error> {
        // Watched first, so that what changes while they are read is noticed.
        let watch = self.watch(app, marker, feed.tag());
        let fresh = Arc::new(Audience { feed, hub: self.clone(), now: Mutex::default(), _watch: watch });
        let known = {
            let mut state = self.state();
            let known = state.audiences.get(&feed.tag()).and_then(std::sync::Weak::upgrade);
            if known.is_none() {
                state.audiences.insert(feed.tag(), Arc::downgrade(&fresh));
            }
            known
        };
        let audience = known.unwrap_or(fresh);
        // Somebody else may be about to read them; what is not read yet would pass for nobody's.
        if audience.sources().edges.is_none() {
            self.load(app, marker, &audience).await?;
        }
        Ok(audience)
    }

    /// Reads the sources of a feed anew.
    async fn load(&self, app: &App, marker: Marker, audience: &Arc<Audience>) -> Result<(), Error> {
        let (mut authors, edges) = timelines::sources(app, audience.feed).await?;
        if edges == 0 && matches!(audience.feed, Feed::List(_)) {
            // It is gone, or nobody was ever on it; who is left in it is on the way out.
            authors.clear();
        }
        let authors: HashSet<u64> = authors.into_iter().map(|author| marker.author(author)).collect();
        let mut state = self.state();
        let mut sources = audience.sources();
        // One that was read earlier may come later. Of what is gone there are none.
        if edges == 0 || sources.edges.is_none_or(|known| known <= edges) {
            let before = std::mem::replace(&mut *sources, Sources { authors: Arc::new(authors), edges: Some(edges) });
            state.index.change_sources(audience.feed.tag(), &before.authors, &sources.authors);
        }
        Ok(())
    }

    /// Joins those to whom events are handed out, from the first one on that comes after `place` and was not handed out yet. `None` if
    /// some that come after it were: they are to be read first.
    pub(super) fn join(&self, app: &App, marker: Marker, wanted: &Wanted, place: &Position) -> Option<Joined> {
        let mut state = self.state();
        let bridge = self.bridge(app, marker, &mut state);
        match &state.position {
            None => (0..state.shards).for_each(|shard| bridge.listen(events::channel(shard))),
            Some(position) if position.0.iter().zip(&place.0).any(|(handed, read)| handed > read) => return None,
            Some(_) => {}
        }
        state.next += 1;
        let (id, queue) = (state.next, Arc::new(Queue::default()));
        state.subscriptions.insert(id, queue.clone());
        match wanted {
            Wanted::Feed(audience) => state.index.add_to_feed(id, audience.feed.tag()),
            Wanted::Public(filter) => state.index.add(id, filter),
        }
        if state.position.is_none() {
            // What was told since is found by its look as soon as it listens.
            state.position = Some(place.clone());
            state.era += 1;
        }
        Some(Joined { hub: self.clone(), id, wanted: wanted.clone(), queue })
    }

    /// Hands out an event that was heard if it follows on `before`, which was; `false` when it does not, be it that something was missed, that
    /// it was read already, or that the storage has lost events and begins again.
    fn heard(&self, event: Event, before: EventId) -> bool {
        let mut state = self.state();
        let last = state.position.as_ref().and_then(|position| position.0.get(event.shard).copied());
        let follows = last == Some(before);
        if follows {
            state.hand_out(event);
        }
        follows || last.is_none()
    }

    /// Hands out events that were read; `false` when that was in another era.
    fn read(&self, events: Vec<Event>, era: u64) -> bool {
        let mut state = self.state();
        if state.era != era {
            return false;
        }
        events.into_iter().for_each(|event| state.hand_out(event));
        true
    }

    /// Something is missing up to this place, unless that was found in another era.
    fn gap(&self, reason: GapReason, place: Position, era: u64) {
        let mut state = self.state();
        if state.era != era || state.position.is_none() {
            return;
        }
        state.subscriptions.values().for_each(|queue| queue.cut(reason, place.clone()));
        state.position = Some(place);
    }
}

/// The task of a hub.
struct Hearing {
    app: App,
    hub: Hub,
    /// When to read what may have been missed.
    behind: Option<Instant>,
    /// Feeds whose sources may have changed.
    doubtful: HashSet<u64>,
    /// Whether those of all may have.
    everybody: bool,
}

impl Hearing {
    async fn run(mut self, mut heard: mpsc::Receiver<Pushed>) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let soon = self.behind;
            tokio::select! {
                pushed = heard.recv() => match pushed {
                    Some(pushed) => self.hear(pushed),
                    None => return,
                },
                _ = look.tick() => (self.behind, self.everybody) = (Some(Instant::now()), true),
                () = std::future::ready(()), if soon.is_none() && !self.doubtful.is_empty() => {
                    if self.look_at_audiences().await.is_err() {
                        self.behind = Some(Instant::now() + AGAIN);
                    }
                }
                () = async { match soon { Some(at) => sleep_until(at).await, None => std::future::pending().await } } => {
                    self.behind = None;
                    if self.catch_up().await.is_err() {
                        self.behind = Some(Instant::now() + AGAIN);
                    }
                }
            }
        }
    }

    fn hear(&mut self, pushed: Pushed) {
        let (channel, message) = match pushed {
            Pushed::Message { channel, payload } => (channel, Some(payload)),
            Pushed::Listening { channel, .. } => (channel, None),
        };
        if let Some((_, versions)) = self.hub.state().watched.get(&channel) {
            versions.send_modify(|version| *version += 1);
        }
        match message.map(|message| events::heard(&channel, &message)) {
            Some(Some(Heard::Event(event, before))) => {
                if !self.hub.heard(event, before) {
                    self.behind = Some(self.behind.unwrap_or_else(Instant::now));
                }
            }
            Some(Some(Heard::Change(id))) => drop(self.doubtful.insert(id)),
            // Only an event has content. On the other channels that somebody watches (a thread's) the message itself is the news.
            Some(None) if events::shard_of(&channel).is_none() => {}
            Some(None) => {
                tracing::warn!(channel, "an event could not be decoded: it is read from the stream instead");
                self.behind = Some(self.behind.unwrap_or_else(Instant::now));
            }
            None => self.listening(&channel),
        }
    }

    /// A channel is listened to from now on: what was told before is read.
    fn listening(&mut self, channel: &str) {
        match (events::shard_of(channel), events::heard(channel, &[])) {
            (Some(_), _) => {
                self.behind = Some(self.behind.unwrap_or_else(Instant::now));
                // Changes were not heard of either.
                self.everybody = true;
            }
            (None, Some(Heard::Change(id))) => drop(self.doubtful.insert(id)),
            _ => {}
        }
    }

    /// Reads the sources anew of those feeds that are doubtful and have changed. What fails is doubtful still.
    async fn look_at_audiences(&mut self) -> Result<(), Error> {
        let (audiences, marker) = {
            let state = self.hub.state();
            if std::mem::take(&mut self.everybody) {
                self.doubtful.extend(state.audiences.keys());
            }
            self.doubtful.retain(|id| state.audiences.get(id).is_some_and(|audience| audience.strong_count() > 0));
            let some = self.doubtful.iter().take(PAGE).filter_map(|id| state.audiences.get(id));
            (some.filter_map(std::sync::Weak::upgrade).collect::<Vec<_>>(), state.marker)
        };
        let Some(marker) = marker else { return Ok(()) };
        let feeds: Vec<Feed> = audiences.iter().map(|audience| audience.feed).collect();
        let edges = timelines::changes(&self.app, &feeds).await?;
        let changed = |(audience, edges): &(&Arc<Audience>, u64)| audience.sources().edges != Some(*edges);
        let changed: Vec<_> = audiences.iter().zip(edges).filter(changed).map(|(audience, _)| audience).collect();
        for some in changed.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|audience| self.hub.load(&self.app, marker, audience))).await?;
        }
        for feed in feeds {
            self.doubtful.remove(&feed.tag());
        }
        Ok(())
    }

    /// Reads on from where it is, and hands out what it finds.
    async fn catch_up(&mut self) -> Result<(), Error> {
        // First whom events concern, then the events.
        while self.everybody || !self.doubtful.is_empty() {
            self.look_at_audiences().await?;
        }
        loop {
            let (position, era) = {
                let state = self.hub.state();
                (state.position.clone(), state.era)
            };
            let Some(position) = position else { return Ok(()) };
            let mut found = Vec::new();
            for read in events::read(&self.app, &position, PAGE).await? {
                match read {
                    Read::Events(events) => found.extend(events),
                    Read::Expired => return self.lose(GapReason::Expired, era).await,
                    Read::Lost => return self.lose(GapReason::Lost, era).await,
                }
            }
            if found.is_empty() {
                return Ok(());
            }
            found.sort_by_key(|event| event.id);
            if !self.hub.read(found, era) {
                return Ok(());
            }
        }
    }

    async fn lose(&mut self, reason: GapReason, era: u64) -> Result<(), Error> {
        tracing::warn!(?reason, "events were missed that are not to be had any more: subscribers are told");
        let now = events::position(&self.app).await?;
        self.hub.gap(reason, now, era);
        Ok(())
    }
}

impl Hub {
    /// How many subscriptions wait for what comes.
    pub fn waiting(&self) -> usize {
        self.state().subscriptions.len()
    }

    /// How many sources a feed that somebody waits for has, by its owner's or the list's id; `None` when nobody does. For tests.
    pub fn sources_of(&self, id: u64) -> Option<usize> {
        let audience = self.state().audiences.get(&id).and_then(std::sync::Weak::upgrade)?;
        let many = audience.sources().authors.len();
        Some(many)
    }

    /// Whether nobody waits for anything: for tests.
    pub fn is_idle(&self) -> bool {
        let state = self.state();
        state.subscriptions.is_empty() && state.watched.is_empty() && state.index.is_empty()
    }
}
