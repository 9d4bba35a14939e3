//! One subscription: reads what it has missed, then waits for what the hub hands out.

use super::hub::{Hub, Joined, Wanted};
use super::model::{GapReason, Told, What};
use super::queue::Item;
use crate::app::App;
use crate::error::Error;
use crate::events::service as events;
use crate::events::{Event, Kind, Marker, Place, Position, Read};
use crate::page::{Cursors, ListId};
use crate::request::Request;
use crate::statuses::service as statuses;
use std::collections::VecDeque;
use std::time::Duration;

/// Events of each shard that are read at once.
const PAGE: usize = 500;
/// How soon Redis is asked again that did not answer.
const AGAIN: Duration = Duration::from_millis(100);

/// A subscription on its way through the events.
pub(super) struct Follower {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) marker: Marker,
    pub(super) cursors: Cursors,
    pub(super) request: Request,
    pub(super) wanted: Wanted,
    pub(super) list: ListId,
    /// How far it has come.
    pub(super) place: Place,
    pub(super) joined: Option<Joined>,
    /// What was read and is not told yet, each with the place behind it.
    pub(super) read: VecDeque<(Event, Position)>,
}

impl Follower {
    /// The next thing to tell. What it does before and after it waits is in boxes: thousands wait, and each would hold room for it.
    pub(super) async fn next(&mut self) -> Told {
        loop {
            if let Some((event, behind)) = self.read.pop_front() {
                let told = Box::pin(self.tell(&event)).await;
                // What was read by itself may be further on in other shards.
                self.place.position.join(&behind);
                match told {
                    Some(what) => return self.told(what),
                    None => continue,
                }
            }
            let gap = match &self.joined {
                Some(joined) => match joined.queue.next().await {
                    Item::Event(event, behind) => {
                        // Read before it has joined.
                        if !self.place.position.is_past(&event) {
                            self.read.push_back(((*event).clone(), (*behind).clone()));
                        }
                        None
                    }
                    Item::Gap(reason, behind) => Some((reason, (*behind).clone())),
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
                return self.told(What::Gap(reason));
            }
        }
    }

    fn told(&self, what: What) -> Told {
        Told { cursor: self.place.encode(&self.cursors, self.list), what }
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
        let mut behind = self.place.position.clone();
        for event in found {
            behind.pass(&event);
            if self.wanted.wants(&self.marker, &event) {
                self.read.push_back((event, behind.clone()));
            }
        }
        if self.read.is_empty() {
            self.place.position = behind;
        } else if let Some(last) = self.read.back_mut() {
            // What nobody wants behind the last one is passed with it.
            last.1 = behind;
        }
        Ok(None)
    }

    /// What an event is to this subscription, as of now. Asks until it knows: what is told is told once.
    async fn tell(&mut self, event: &Event) -> Option<What> {
        if event.kind == Kind::Posted && self.place.take_shown(event.status.0) {
            return None;
        }
        if event.kind == Kind::Deleted {
            return self.is_wanted_still(event).then_some(What::Deleted(event.status));
        }
        let seen = loop {
            self.request.forget();
            let loaders = self.request.loaders();
            match statuses::shown(&loaders, [event.status]).await {
                Ok(mut found) => break found.pop().flatten(),
                Err(_) => tokio::time::sleep(AGAIN).await,
            }
        };
        seen.filter(|_| self.is_wanted_still(event)).map(What::Posted)
    }

    /// Whoever was a source of a feed when it happened may be none any more.
    fn is_wanted_still(&self, event: &Event) -> bool {
        match &self.wanted {
            Wanted::Feed(audience) => audience.has(event.marks.author),
            Wanted::Public(_) => true,
        }
    }
}
