//! The task of a hub: it listens to what is told, reads what may have been missed, and keeps audiences up to date.

use super::audience::Audience;
use super::course::AGAIN;
use super::hub::Hub;
use super::model::GapReason;
use crate::app::App;
use crate::base::error::Error;
use crate::db::pubsub::PubSubMessage;
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

/// How often it is looked whether something was missed.
const LOOK: Duration = Duration::from_secs(10);
/// Feeds whose sources are read at once.
const AT_ONCE: usize = 50;
/// Events of each shard, and feeds, that are looked at together.
const PAGE: usize = 1_000;

/// The task of a hub.
pub(super) struct Listener {
    app: App,
    hub: Hub,
    term_hasher: TermHasher,
    /// When to read what may have been missed.
    behind: Option<Instant>,
    /// Feeds whose sources may have changed.
    stale_feeds: BTreeSet<u64>,
    /// Those of all feeds from this one on may have changed too.
    sweep: Option<u64>,
}

/// Feeds whose sources may have changed.
struct StalePage {
    feeds: Vec<u64>,
    /// Those of them that somebody waits for.
    audiences: Vec<Arc<Audience>>,
    /// Where the sweep goes on behind them.
    sweep: Option<u64>,
}

impl Listener {
    pub(super) const fn new(app: App, hub: Hub, term_hasher: TermHasher) -> Self {
        Self { app, hub, term_hasher, behind: None, stale_feeds: BTreeSet::new(), sweep: None }
    }

    /// Runs until nothing can be heard any more.
    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<PubSubMessage>) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let soon = self.behind;
            tokio::select! {
                message = messages.recv() => match message {
                    Some(message) => self.on_message(message).await,
                    None => return,
                },
                _ = look.tick() => (self.behind, self.sweep) = (Some(Instant::now()), Some(0)),
                () = std::future::ready(()), if soon.is_none() && !self.stale_feeds.is_empty() => {
                    if self.refresh_audiences().await.is_err() {
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

    async fn on_message(&mut self, message: PubSubMessage) {
        let (channel, payload) = match message {
            PubSubMessage::Message { channel, payload } => (channel, Some(payload)),
            PubSubMessage::Subscribed { channel, .. } => (channel, None),
        };
        self.hub.state().said_on(&channel);
        match payload.map(|payload| events::parse_message(&channel, &payload)) {
            Some(Some(PubSubEvent::Event(event, before))) => {
                if !self.hub.hand_out(event, before).await {
                    self.behind = Some(self.behind.unwrap_or_else(Instant::now));
                }
            }
            Some(Some(PubSubEvent::Change(id))) => drop(self.stale_feeds.insert(id)),
            // Only an event has content. On the other channels that somebody watches (a thread's) the message itself is the news.
            Some(None) if events::shard_of(&channel).is_none() => {}
            Some(None) => {
                tracing::warn!(channel, "an event could not be decoded: it is read from the stream instead");
                self.behind = Some(self.behind.unwrap_or_else(Instant::now));
            }
            None => self.on_listening(&channel),
        }
    }

    /// A channel is listened to from now on: what was told before is read.
    fn on_listening(&mut self, channel: &str) {
        match (events::shard_of(channel), events::parse_message(channel, &[])) {
            (Some(_), _) => {
                self.behind = Some(self.behind.unwrap_or_else(Instant::now));
                // Changes were not heard of either.
                self.sweep = Some(0);
            }
            (None, Some(PubSubEvent::Change(id))) => drop(self.stale_feeds.insert(id)),
            _ => {}
        }
    }

    /// Reads the sources anew of those feeds of a page that have changed. What fails is stale still. Two round trips, and one for each that
    /// has changed.
    async fn refresh_audiences(&mut self) -> Result<(), Error> {
        let page = self.stale_page();
        let feeds: Vec<Feed> = page.audiences.iter().map(|audience| audience.feed()).collect();
        let edges = timelines::changes(&self.app, &feeds).await?;
        let changed = |(audience, edges): &(&Arc<Audience>, u64)| audience.edges() != Some(*edges);
        let changed: Vec<_> = page.audiences.iter().zip(edges).filter(changed).map(|(audience, _)| audience).collect();
        for some in changed.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|audience| self.hub.load(&self.app, self.term_hasher, audience))).await?;
        }
        self.sweep = page.sweep;
        for feed in page.feeds {
            self.stale_feeds.remove(&feed);
        }
        Ok(())
    }

    /// The next feeds that may be stale, at most [`PAGE`]: those of which that was heard come first.
    fn stale_page(&self) -> StalePage {
        let state = self.hub.state();
        if self.stale_feeds.is_empty() {
            let from = self.sweep.unwrap_or(u64::MAX);
            let some: Vec<_> = state.audiences.range(from..).take(PAGE).collect();
            let feeds: Vec<u64> = some.iter().map(|(feed, _)| **feed).collect();
            let audiences = some.into_iter().filter_map(|(_, audience)| audience.upgrade()).collect();
            let sweep = feeds.last().filter(|_| feeds.len() == PAGE).map(|last| last.saturating_add(1));
            return StalePage { feeds, audiences, sweep };
        }
        let feeds: Vec<u64> = self.stale_feeds.iter().take(PAGE).copied().collect();
        let audiences = feeds.iter().filter_map(|feed| state.audiences.get(feed).and_then(Weak::upgrade)).collect();
        StalePage { feeds, audiences, sweep: self.sweep }
    }

    /// Reads on from where it is, and hands out what it finds.
    async fn catch_up(&mut self) -> Result<(), Error> {
        // First whom events concern, then the events.
        while self.sweep.is_some() || !self.stale_feeds.is_empty() {
            self.refresh_audiences().await?;
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
                    ReadResult::Events(events) => found.extend(events),
                    ReadResult::Expired => return self.lose(GapReason::Expired, era).await,
                    ReadResult::Lost => return self.lose(GapReason::Lost, era).await,
                }
            }
            if found.is_empty() {
                return Ok(());
            }
            found.sort_by_key(|event| event.id);
            if !self.hub.hand_out_all(found, era).await {
                return Ok(());
            }
        }
    }

    async fn lose(&mut self, reason: GapReason, era: u64) -> Result<(), Error> {
        tracing::warn!(?reason, "events were missed that are not to be had any more: subscribers are told");
        let now = events::position(&self.app).await?;
        self.hub.hand_out_gap(reason, now, era).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::config::Config;
    use crate::base::ids::UserId;
    use crate::db::{Db, Target, Timing};

    const HASHER: TermHasher = TermHasher::new([7; 16]);

    #[tokio::test]
    async fn a_sweep_comes_past_every_feed_in_bounded_pages() {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let (app, hub) = (App::new(db, Clock::System, Config::default()), Hub::default());
        let all: Vec<u64> = (1..=2 * PAGE as u64 + 500).collect();
        let audience = |id: &u64| hub.find_audience(Feed::Home(UserId(*id)), UserId(*id), hub.watch(&app, HASHER, *id));
        let _held: Vec<_> = all.iter().map(audience).collect();
        let mut listener = Listener::new(app.clone(), hub.clone(), HASHER);
        let mut swept = Vec::new();
        listener.sweep = Some(0);
        while listener.sweep.is_some() {
            let page = listener.stale_page();
            assert!(page.feeds.len() <= PAGE && page.audiences.len() == page.feeds.len(), "{} feeds", page.feeds.len());
            swept.extend(page.feeds);
            listener.sweep = page.sweep;
        }
        assert_eq!(swept, all);
        // What was heard of comes first, as many at once.
        (listener.sweep, listener.stale_feeds) = (Some(7), all.iter().copied().collect());
        let page = listener.stale_page();
        assert_eq!((page.feeds.len(), page.sweep), (PAGE, Some(7)));
    }
}
