//! The listener: the task that receives published events, reads events that may have been missed, and keeps the sources of feeds up to date.

use super::event_source::RETRY_DELAY;
use super::feed_sources::FeedSources;
use super::hidden_authors::HiddenAuthors;
use super::hub::Hub;
use super::model::GapReason;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::pubsub::PubSubMessage;
use crate::domains::relations::service as relations;
use crate::domains::timelines::service as timelines;
use crate::platform::events::service::{self as events, PubSubEvent};
use crate::platform::events::{ReadResult, TermHasher};
use crate::platform::journal::Feed;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

/// The interval at which the log is checked for missed events.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of feeds or viewers that are reloaded concurrently.
const CONCURRENCY: usize = 50;
/// Maximum number of events of each shard, and of accounts and lists, that are read at once.
const PAGE: usize = 1_000;

/// The task that receives published events, and dispatches them to the subscriptions of the hub.
pub(super) struct Listener {
    app: App,
    hub: Hub,
    term_hasher: TermHasher,
    /// When to read events that may have been missed.
    catch_up_at: Option<Instant>,
    /// Accounts and lists that may have changed: the sources of their feeds, and the relations of the accounts.
    stale: BTreeSet<u64>,
    /// All accounts and lists from this id on may have changed, too.
    sweep: Option<u64>,
}

/// A page of accounts and lists that may have changed.
struct StalePage {
    ids: Vec<u64>,
    /// The sources of those feeds that have subscriptions.
    sources: Vec<Arc<FeedSources>>,
    /// The hidden authors of those viewers that have subscriptions.
    hidden: Vec<Arc<HiddenAuthors>>,
    /// Where the sweep continues after this page.
    sweep: Option<u64>,
}

impl Listener {
    pub(super) const fn new(app: App, hub: Hub, term_hasher: TermHasher) -> Self {
        Self { app, hub, term_hasher, catch_up_at: None, stale: BTreeSet::new(), sweep: None }
    }

    /// Runs until the channel of messages closes.
    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<PubSubMessage>) {
        let mut checks = interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let catch_up_at = self.catch_up_at;
            tokio::select! {
                message = messages.recv() => match message {
                    Some(message) => self.on_message(message).await,
                    None => return,
                },
                _ = checks.tick() => (self.catch_up_at, self.sweep) = (Some(Instant::now()), Some(0)),
                () = std::future::ready(()), if catch_up_at.is_none() && !self.stale.is_empty() => {
                    if self.refresh().await.is_err() {
                        self.catch_up_at = Some(Instant::now() + RETRY_DELAY);
                    }
                }
                () = async { match catch_up_at { Some(at) => sleep_until(at).await, None => std::future::pending().await } } => {
                    self.catch_up_at = None;
                    if self.catch_up().await.is_err() {
                        self.catch_up_at = Some(Instant::now() + RETRY_DELAY);
                    }
                }
            }
        }
    }

    async fn on_message(&mut self, message: PubSubMessage) {
        let (channel, payload) = match message {
            PubSubMessage::Message { channel, payload } => (channel, Some(payload)),
            PubSubMessage::Subscribed { channel, .. } => (channel, None),
        };
        self.hub.state().notify_watchers(&channel);
        match payload.map(|payload| events::parse_message(&channel, &payload)) {
            Some(Some(PubSubEvent::Event(event, before))) => {
                if !self.hub.dispatch(event, before).await {
                    self.catch_up_at = Some(self.catch_up_at.unwrap_or_else(Instant::now));
                }
            }
            Some(Some(PubSubEvent::Typing(event))) => self.hub.dispatch_typing(event).await,
            Some(Some(PubSubEvent::Change(id))) => drop(self.stale.insert(id)),
            // An undecodable message of a shard channel can be read from the log instead. On other channels such a message is ignored: messages about threads
            // and privacy are only signals, and a typing event is not in the log.
            Some(None) if events::shard_of(&channel).is_none() => {}
            Some(None) => {
                tracing::warn!(channel, "an event could not be decoded: it is read from the log instead");
                self.catch_up_at = Some(self.catch_up_at.unwrap_or_else(Instant::now));
            }
            None => self.on_subscribed(&channel),
        }
    }

    /// Handles the start of the subscription to a channel: earlier messages were missed.
    fn on_subscribed(&mut self, channel: &str) {
        match (events::shard_of(channel), events::parse_message(channel, &[])) {
            (Some(_), _) => {
                self.catch_up_at = Some(self.catch_up_at.unwrap_or_else(Instant::now));
                // Changes of sources and of relations were missed, too.
                self.sweep = Some(0);
            }
            (None, Some(PubSubEvent::Change(id))) => drop(self.stale.insert(id)),
            _ => {}
        }
    }

    /// Reloads the sources and the hidden authors of one page of stale accounts and lists. The page stays stale if a read fails. At most three round trips, and
    /// the reads of each feed and each viewer that has changed.
    async fn refresh(&mut self) -> Result<(), Error> {
        let page = self.stale_page();
        self.refresh_sources(&page.sources).await?;
        self.refresh_hidden(&page.hidden).await?;
        self.sweep = page.sweep;
        for id in page.ids {
            self.stale.remove(&id);
        }
        Ok(())
    }

    async fn refresh_sources(&self, all: &[Arc<FeedSources>]) -> Result<(), Error> {
        let feeds: Vec<Feed> = all.iter().map(|sources| sources.feed()).collect();
        let versions = timelines::source_versions(&self.app, &feeds).await?;
        let is_changed = |(sources, version): &(&Arc<FeedSources>, u64)| sources.version() != Some(*version);
        let changed: Vec<_> = all.iter().zip(versions).filter(is_changed).map(|(sources, _)| sources).collect();
        for chunk in changed.chunks(CONCURRENCY) {
            try_join_all(chunk.iter().map(|sources| self.hub.load_sources(&self.app, self.term_hasher, sources))).await?;
        }
        Ok(())
    }

    async fn refresh_hidden(&self, all: &[Arc<HiddenAuthors>]) -> Result<(), Error> {
        let viewers: Vec<UserId> = all.iter().map(|hidden| hidden.viewer()).collect();
        let versions = relations::versions(&self.app, &viewers).await?;
        let is_changed = |(hidden, version): &(&Arc<HiddenAuthors>, u64)| hidden.version() != Some(*version);
        let changed: Vec<_> = all.iter().zip(versions).filter(is_changed).map(|(hidden, _)| hidden).collect();
        for chunk in changed.chunks(CONCURRENCY) {
            try_join_all(chunk.iter().map(|hidden| hidden.load(&self.app, self.term_hasher))).await?;
        }
        Ok(())
    }

    /// The next accounts and lists that may be stale, at most [`PAGE`]; those with a published change come first.
    fn stale_page(&self) -> StalePage {
        let state = self.hub.state();
        let (ids, sweep) = if self.stale.is_empty() {
            let from = self.sweep.unwrap_or(u64::MAX);
            let (feeds, viewers) = (state.feeds.range(from..).take(PAGE), state.hidden.range(from..).take(PAGE));
            let all: BTreeSet<u64> = feeds.map(|(id, _)| *id).chain(viewers.map(|(id, _)| *id)).collect();
            let ids: Vec<u64> = all.into_iter().take(PAGE).collect();
            let sweep = ids.last().filter(|_| ids.len() == PAGE).map(|last| last.saturating_add(1));
            (ids, sweep)
        } else {
            (self.stale.iter().take(PAGE).copied().collect(), self.sweep)
        };
        let sources = ids.iter().filter_map(|id| state.feeds.get(id).and_then(Weak::upgrade)).collect();
        let hidden = ids.iter().filter_map(|id| state.hidden.get(id).and_then(Weak::upgrade)).collect();
        StalePage { ids, sources, hidden, sweep }
    }

    /// Reads missed events from the log, and dispatches them.
    async fn catch_up(&mut self) -> Result<(), Error> {
        // Sources and relations first: they determine the recipients of the events.
        while self.sweep.is_some() || !self.stale.is_empty() {
            self.refresh().await?;
        }
        loop {
            let (position, epoch) = {
                let state = self.hub.state();
                (state.position.clone(), state.epoch)
            };
            let Some(position) = position else { return Ok(()) };
            let mut found = Vec::new();
            for read in events::read(&self.app, &position, PAGE).await? {
                match read {
                    ReadResult::Events(events) => found.extend(events),
                    ReadResult::Expired => return self.skip_with_gap(GapReason::Expired, epoch).await,
                    ReadResult::Lost => return self.skip_with_gap(GapReason::Lost, epoch).await,
                }
            }
            if found.is_empty() {
                return Ok(());
            }
            found.sort_by_key(|event| event.id);
            if !self.hub.dispatch_all(found, epoch).await {
                return Ok(());
            }
        }
    }

    async fn skip_with_gap(&mut self, reason: GapReason, epoch: u64) -> Result<(), Error> {
        tracing::warn!(?reason, "missed events have expired or were lost: subscribers receive a gap");
        let now = events::position(&self.app).await?;
        self.hub.dispatch_gap(reason, now, epoch).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::config::Config;
    use crate::db::{Db, Target, Timing};

    const HASHER: TermHasher = TermHasher::new([7; 16]);

    #[tokio::test]
    async fn a_sweep_visits_every_feed_in_bounded_pages() {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let (app, hub) = (App::new(db, Clock::System, Config::default()), Hub::default());
        let all: Vec<u64> = (1..=2 * PAGE as u64 + 500).collect();
        let sources = |id: &u64| hub.find_feed(Feed::Home(UserId(*id)), UserId(*id), hub.watch(&app, HASHER, *id));
        let _held: Vec<_> = all.iter().map(sources).collect();
        let mut listener = Listener::new(app.clone(), hub.clone(), HASHER);
        let mut swept = Vec::new();
        listener.sweep = Some(0);
        while listener.sweep.is_some() {
            let page = listener.stale_page();
            assert!(page.ids.len() <= PAGE && page.sources.len() == page.ids.len(), "{} feeds", page.ids.len());
            swept.extend(page.ids);
            listener.sweep = page.sweep;
        }
        assert_eq!(swept, all);
        // Feeds with a published change come first, a page at a time.
        (listener.sweep, listener.stale) = (Some(7), all.iter().copied().collect());
        let page = listener.stale_page();
        assert_eq!((page.ids.len(), page.sweep), (PAGE, Some(7)));
    }
}
