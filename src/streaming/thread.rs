//! A subscription to a thread: reads what it has missed, then waits for what the room hands out.

use super::follower::{AGAIN, PAGE};
use super::model::{GapReason, Told, What};
use super::occasion::Occasion;
use super::queue::Item;
use super::room::{Rooms, Seat};
use crate::app::App;
use crate::comments::service as comments;
use crate::comments::{Event, EventId, Read};
use crate::error::Error;
use crate::events::Marker;
use crate::ids::StatusId;
use crate::page::Cursors;
use std::collections::VecDeque;
use std::sync::Arc;

/// On its way through the events of a thread.
pub struct ThreadFollower {
    pub(super) app: App,
    pub(super) rooms: Rooms,
    pub(super) marker: Marker,
    pub(super) cursors: Cursors,
    pub(super) status: StatusId,
    /// How far it has come.
    pub(super) place: EventId,
    pub(super) seat: Option<Seat>,
    /// What is not told yet.
    pub(super) read: VecDeque<Arc<Occasion<Event, EventId>>>,
}

impl ThreadFollower {
    /// The next thing to tell, once there is one; `None` when the status is gone.
    pub(super) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(next) = self.read.pop_front() {
                self.place = next.event.id;
                let what = What::Comment(next.event.comment, next.event.happened);
                return Some(Told { occasion: Some(next.number), ..self.told(what) });
            }
            let gap = match &self.seat {
                Some(seat) => match seat.queue.next().await {
                    Item::Event(next) => {
                        // Read before it has joined.
                        if next.event.id > self.place {
                            self.read.push_back(next);
                        }
                        None
                    }
                    Item::Gap(reason, behind) => Some((reason, behind)),
                    Item::End => return None,
                },
                None => match Box::pin(self.read_on()).await {
                    Ok(gap) => gap,
                    Err(_) => {
                        tokio::time::sleep(AGAIN).await;
                        None
                    }
                },
            };
            if let Some((reason, behind)) = gap {
                self.place = behind;
                return Some(self.told(What::Gap(reason)));
            }
        }
    }

    fn told(&self, what: What) -> Told {
        let cursor = comments::encode_event(&self.cursors, self.status, self.place);
        Told { cursor, what, author: None, occasion: None }
    }

    /// Reads what comes next, or takes a seat where nothing does. A gap, where what comes next is not to be had.
    async fn read_on(&mut self) -> Result<Option<(GapReason, EventId)>, Error> {
        let reason = match comments::events(&self.app, self.status, self.place, PAGE).await? {
            Read::Events(found) if found.is_empty() => {
                self.seat = self.rooms.join(&self.app, self.marker, self.status, self.place);
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
