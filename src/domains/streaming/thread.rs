//! A subscription to a thread: reads what it has missed, then waits for what the room hands out.

use super::course::{Course, PAGE};
use super::model::{GapReason, Told, What};
use super::occasion::Occasion;
use super::queue::Queue;
use super::room::{Rooms, Seat};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::page::Cursors;
use crate::domains::comments::service as comments;
use crate::domains::comments::{Event, EventId, Read};
use crate::platform::events::TermHasher;
use std::collections::VecDeque;
use std::sync::Arc;

/// On its way through the events of a thread.
pub struct ThreadFollower {
    pub(super) app: App,
    pub(super) rooms: Rooms,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) status: StatusId,
    /// How far it has come.
    pub(super) place: EventId,
    pub(super) seat: Option<Seat>,
    /// What is not told yet.
    pub(super) read: VecDeque<Arc<Occasion<Event, EventId>>>,
}

impl Course for ThreadFollower {
    type Event = Event;
    type Place = EventId;

    fn read(&mut self) -> &mut VecDeque<Arc<Occasion<Event, EventId>>> {
        &mut self.read
    }

    fn queue(&self) -> Option<&Queue<Event, EventId>> {
        self.seat.as_ref().map(|seat| &*seat.queue)
    }

    fn is_past(&self, event: &Event) -> bool {
        event.id <= self.place
    }

    fn pass(&mut self, next: &Occasion<Event, EventId>) -> Option<Told> {
        self.place = next.event.id;
        let what = What::Comment(next.event.comment, next.event.happened);
        Some(Told { occasion: Some(next.number), ..self.told(what) })
    }

    fn lose(&mut self, reason: GapReason, behind: EventId) -> Told {
        self.place = behind;
        self.told(What::Gap(reason))
    }

    async fn read_on(&mut self) -> Result<Option<(GapReason, EventId)>, Error> {
        let reason = match comments::events(&self.app, self.status, self.place, PAGE).await? {
            Read::Events(found) if found.is_empty() => {
                self.seat = self.rooms.join(&self.app, self.term_hasher, self.status, self.place);
                return Ok(None);
            }
            Read::Events(found) => {
                self.read.extend(found.into_iter().map(|event| Occasion::new(event, event.id)));
                return Ok(None);
            }
            Read::Expired => GapReason::Expired,
            Read::Lost => GapReason::Lost,
        };
        Ok(Some((reason, comments::position(&self.app, self.status).await?.0)))
    }
}

impl ThreadFollower {
    fn told(&self, what: What) -> Told {
        let cursor = comments::encode_event(&self.cursors, self.status, self.place);
        Told { cursor, what, author: None, occasion: None }
    }
}
