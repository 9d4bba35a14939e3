//! One subscription: reads what it has missed, then waits for what is handed out.

use super::course::{self, Course, PAGE};
use super::hub::{Hub, Joined};
use super::interest::Wanted;
use super::model::{GapReason, Told, What};
use super::occasion::Occasion;
use super::queue::Queue;
use super::thread::ThreadFollower;
use crate::app::App;
use crate::base::error::Error;
use crate::base::page::{Cursors, ListId};
use crate::platform::events::service as events;
use crate::platform::events::{Event, EventKind, LogPosition, ReadResult, ResumePoint, TermHasher};
use std::collections::VecDeque;
use std::sync::Arc;

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
            Self::Statuses(follower) => course::next(follower).await,
            Self::Thread(follower) => course::next(follower).await,
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
type StatusEnvelope = Occasion<Event, LogPosition>;

/// On its way through the events of statuses.
pub struct StatusFollower {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) wanted: Wanted,
    pub(super) list: ListId,
    /// How far it has come.
    pub(super) place: ResumePoint,
    pub(super) joined: Option<Joined>,
    /// What is not told yet.
    pub(super) read: VecDeque<Arc<StatusEnvelope>>,
}

impl Course for StatusFollower {
    type Event = Event;
    type Place = LogPosition;

    fn read(&mut self) -> &mut VecDeque<Arc<StatusEnvelope>> {
        &mut self.read
    }

    fn queue(&self) -> Option<&Queue<Event, LogPosition>> {
        self.joined.as_ref().map(|joined| &*joined.queue)
    }

    fn is_past(&self, event: &Event) -> bool {
        self.place.position.is_past(event)
    }

    fn pass(&mut self, next: &StatusEnvelope) -> Option<Told> {
        let what = self.tell(&next.event);
        // What was read by itself may be further on in other shards.
        self.place.position.join(&next.behind);
        what.map(|what| self.told(what, Some(next)))
    }

    fn lose(&mut self, reason: GapReason, mut behind: LogPosition) -> Told {
        if reason == GapReason::TooSlow {
            behind.join(&self.place.position);
        }
        self.place = ResumePoint::new(behind, Vec::new());
        self.told(What::Gap(reason), None)
    }

    async fn read_on(&mut self) -> Result<Option<(GapReason, LogPosition)>, Error> {
        let mut found = Vec::new();
        for read in events::read(&self.app, &self.place.position, PAGE).await? {
            let reason = match read {
                ReadResult::Events(events) => {
                    found.extend(events);
                    continue;
                }
                ReadResult::Expired => GapReason::Expired,
                ReadResult::Lost => GapReason::Lost,
            };
            return Ok(Some((reason, events::position(&self.app).await?)));
        }
        if found.is_empty() {
            self.joined = self.hub.join(&self.app, self.term_hasher, &self.wanted, &self.place.position).await;
            return Ok(None);
        }
        found.sort_by_key(|event| event.id);
        let (mut behind, mut wanted) = (self.place.position.clone(), Vec::new());
        for event in found {
            behind.pass(&event);
            if self.wanted.wants(&self.term_hasher, &event) {
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
}

impl StatusFollower {
    fn told(&self, what: What, of: Option<&StatusEnvelope>) -> Told {
        let cursor = self.place.encode(&self.cursors, self.list);
        Told { cursor, what, author: of.map(|it| it.event.terms.author), occasion: of.map(|it| it.number) }
    }

    /// What an event is to this subscription.
    fn tell(&mut self, event: &Event) -> Option<What> {
        let (status, kind) = (event.status, event.kind);
        if kind == EventKind::Posted && self.place.take_shown(status.0) {
            return None;
        }
        let what = if kind == EventKind::Posted { What::Posted(status) } else { What::Deleted(status) };
        self.has_source(event.terms.author).then_some(what)
    }

    fn has_source(&self, author: u64) -> bool {
        match &self.wanted {
            Wanted::Feed(audience) => audience.has(author),
            Wanted::Public(_) => true,
        }
    }
}
