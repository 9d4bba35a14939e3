//! One subscription: reads what it has missed, then waits for what is handed out.

use super::hub::{Hub, Joined, Wanted};
use super::model::{GapReason, Told, What};
use super::occasion::Occasion;
use super::queue::Item;
use super::thread::ThreadFollower;
use crate::app::App;
use crate::error::Error;
use crate::events::service as events;
use crate::events::{Event, Kind, Marker, Place, Position, Read};
use crate::page::{Cursors, ListId};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Events of each shard that are read at once.
pub(super) const PAGE: usize = 500;
/// How soon Redis is asked again that did not answer.
pub(super) const AGAIN: Duration = Duration::from_millis(100);

/// A subscription that has begun.
pub enum Follower {
    /// To statuses.
    Statuses(StatusFollower),
    /// To a thread.
    Thread(ThreadFollower),
}

impl Follower {
    /// The next thing to tell, once there is one; `None` when there is nothing more to follow.
    pub async fn next(&mut self) -> Option<Told> {
        match self {
            Self::Statuses(follower) => Some(follower.next().await),
            Self::Thread(follower) => follower.next().await,
        }
    }

    /// Whether what was told is wanted now: to be asked when its answer is made, since whoever was a source of a feed when it happened
    /// may be none any more.
    pub fn wants_still(&self, told: &Told) -> bool {
        match self {
            Self::Statuses(follower) => told.author.is_none_or(|author| follower.has_source(author)),
            Self::Thread(_) => true,
        }
    }
}

/// An event on its way, and the place behind it.
type Happened = Occasion<Event, Position>;

/// On its way through the events of statuses.
pub struct StatusFollower {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) marker: Marker,
    pub(super) cursors: Cursors,
    pub(super) wanted: Wanted,
    pub(super) list: ListId,
    /// How far it has come.
    pub(super) place: Place,
    pub(super) joined: Option<Joined>,
    /// What is not told yet.
    pub(super) read: VecDeque<Arc<Happened>>,
}

impl StatusFollower {
    /// The next thing to tell, once there is one. What it does before it waits is in a box: thousands wait, and each would hold room for it.
    async fn next(&mut self) -> Told {
        loop {
            if let Some(event) = self.read.pop_front() {
                let told = self.tell(&event.event);
                // What was read by itself may be further on in other shards.
                self.place.position.join(&event.behind);
                match told {
                    Some(what) => return self.told(what, Some(&event)),
                    None => continue,
                }
            }
            let gap = match &self.joined {
                Some(joined) => match joined.queue.next().await {
                    Item::Event(event) => {
                        // Read before it has joined.
                        if !self.place.position.is_past(&event.event) {
                            self.read.push_back(event);
                        }
                        None
                    }
                    Item::Gap(reason, behind) => Some((reason, behind)),
                    Item::End => None,
                },
                None => match Box::pin(self.read_on()).await {
                    Ok(gap) => gap,
                    Err(_) => {
                        tokio::time::sleep(AGAIN).await;
                        None
                    }
                },
            };
            if let Some((reason, mut behind)) = gap {
                if reason == GapReason::TooSlow {
                    behind.join(&self.place.position);
                }
                self.place = Place::new(behind, Vec::new());
                return self.told(What::Gap(reason), None);
            }
        }
    }

    fn told(&self, what: What, of: Option<&Happened>) -> Told {
        let cursor = self.place.encode(&self.cursors, self.list);
        Told { cursor, what, author: of.map(|it| it.event.marks.author), occasion: of.map(|it| it.number) }
    }

    /// Reads what comes next, or joins the hub where nothing does. A gap, where what comes next is not to be had.
    async fn read_on(&mut self) -> Result<Option<(GapReason, Position)>, Error> {
        let mut found = Vec::new();
        for read in events::read(&self.app, &self.place.position, PAGE).await? {
            let reason = match read {
                Read::Events(events) => {
                    found.extend(events);
                    continue;
                }
                Read::Expired => GapReason::Expired,
                Read::Lost => GapReason::Lost,
            };
            return Ok(Some((reason, events::position(&self.app).await?)));
        }
        if found.is_empty() {
            self.joined = self.hub.join(&self.app, self.marker, &self.wanted, &self.place.position);
            return Ok(None);
        }
        found.sort_by_key(|event| event.id);
        let (mut behind, mut wanted) = (self.place.position.clone(), Vec::new());
        for event in found {
            behind.pass(&event);
            if self.wanted.wants(&self.marker, &event) {
                wanted.push((event, behind.clone()));
            }
        }
        match wanted.last_mut() {
            // What nobody wants behind the last one is passed with it.
            Some(last) => last.1 = behind,
            None => self.place.position = behind,
        }
        self.read.extend(wanted.into_iter().map(|(event, behind)| Occasion::new(event, behind)));
        Ok(None)
    }

    /// What an event is to this subscription.
    fn tell(&mut self, event: &Event) -> Option<What> {
        let (status, kind) = (event.status, event.kind);
        if kind == Kind::Posted && self.place.take_shown(status.0) {
            return None;
        }
        let what = if kind == Kind::Posted { What::Posted(status) } else { What::Deleted(status) };
        self.has_source(event.marks.author).then_some(what)
    }

    fn has_source(&self, author: u64) -> bool {
        match &self.wanted {
            Wanted::Feed(audience) => audience.has(author),
            Wanted::Public(_) => true,
        }
    }
}
