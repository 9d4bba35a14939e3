//! A thread that somebody follows: its log is read once a process whenever something was said of it, and handed to all who follow it.

use super::course::{AGAIN, PAGE};
use super::hub::{Hub, Watch};
use super::index::STEP;
use super::model::GapReason;
use super::occasion::Occasion;
use super::queue;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::domains::comments::service as comments;
use crate::domains::comments::{Event, EventId, Read};
use crate::domains::statuses::service as statuses;
use crate::platform::events::TermHasher;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Included};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// How often it is looked whether something was missed, or not told by who had it to tell.
const LOOK: Duration = Duration::from_secs(10);

type Queue = queue::Queue<Event, EventId>;

/// The rooms of a process. Cheap to clone; clones are the same.
#[derive(Clone, Default)]
pub(super) struct Rooms(Arc<Mutex<HashMap<StatusId, Room>>>);

struct Room {
    /// The last event that was handed out.
    position: EventId,
    /// By number: later ones have greater numbers.
    seats: BTreeMap<u64, Arc<Queue>>,
    next: u64,
    _task: AbortOnDropHandle<()>,
}

/// A place in a room. It is left when this is dropped.
pub(super) struct Seat {
    rooms: Rooms,
    status: StatusId,
    number: u64,
    pub(super) queue: Arc<Queue>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut rooms = self.rooms.all();
        let Some(room) = rooms.get_mut(&self.status) else { return };
        room.seats.remove(&self.number);
        // The last one out; its task ends behind the lock.
        let empty = room.seats.is_empty().then(|| rooms.remove(&self.status));
        drop(rooms);
        drop(empty);
    }
}

impl Rooms {
    fn all(&self) -> MutexGuard<'_, HashMap<StatusId, Room>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Joins those to whom a thread's events are handed, from the first one after `place` on. `None` if some that come after it were handed
    /// out: they are to be read first.
    pub(super) fn join(&self, app: &App, term_hasher: TermHasher, status: StatusId, place: EventId) -> Option<Seat> {
        let mut rooms = self.all();
        let room = rooms.entry(status).or_insert_with(|| {
            let reading = Reading { app: app.clone(), rooms: self.clone(), status };
            let hub = app.extension::<Hub>();
            let told = hub.watch_channel(app, term_hasher, comments::channel(status));
            let ended = hub.watch(app, term_hasher, status.0);
            let task = AbortOnDropHandle::new(tokio::spawn(reading.run(told, ended)));
            Room { position: place, seats: BTreeMap::new(), next: 0, _task: task }
        });
        if room.position > place {
            return None;
        }
        room.next += 1;
        let (number, queue) = (room.next, Arc::new(Queue::default()));
        room.seats.insert(number, queue.clone());
        Some(Seat { rooms: self.clone(), status, number, queue })
    }

    /// How many follow a thread: for tests.
    pub(super) fn seats(&self, status: StatusId) -> usize {
        self.all().get(&status).map_or(0, |room| room.seats.len())
    }
}

/// The task of a room.
struct Reading {
    app: App,
    rooms: Rooms,
    status: StatusId,
}

impl Reading {
    /// Reads on when something is said, when the status is gone, and from time to time. It is ended with the room.
    async fn run(self, mut told: Watch, mut ended: Watch) {
        // Something may have been said since whoever opened the room has read, and the channel may be listened to already.
        let mut closely = false;
        loop {
            while let Err(error) = self.look(closely).await {
                tracing::debug!(%error, "a thread cannot be read on");
                tokio::time::sleep(AGAIN).await;
            }
            closely = tokio::select! {
                () = told.changed() => false,
                () = ended.changed() => true,
                () = tokio::time::sleep(LOOK) => true,
            };
        }
    }

    async fn look(&self, closely: bool) -> Result<(), Error> {
        if closely {
            if statuses::exist(&self.app, &[self.status]).await? == [false] {
                if let Some(last) = self.each(|room| room.next) {
                    self.each_seat(last, |queue| queue.end()).await;
                }
                return Ok(());
            }
            // Whoever was to tell may have died.
            comments::tell_votes(&self.app, self.status).await?;
        }
        loop {
            let Some(position) = self.each(|room| room.position) else { return Ok(()) };
            match comments::events(&self.app, self.status, position, PAGE).await? {
                Read::Events(found) if found.is_empty() => return Ok(()),
                Read::Events(found) => {
                    for event in found {
                        self.hand_out(event).await;
                    }
                }
                Read::Expired => return self.lose(GapReason::Expired).await,
                Read::Lost => return self.lose(GapReason::Lost).await,
            }
        }
    }

    async fn lose(&self, reason: GapReason) -> Result<(), Error> {
        let (now, _) = comments::position(&self.app, self.status).await?;
        let last = self.each(|room| {
            room.position = now;
            room.next
        });
        if let Some(last) = last {
            self.each_seat(last, |queue| queue.cut(reason, now)).await;
        }
        Ok(())
    }

    /// Hands out an event, unless that was done. The position says from the first on that it was: who joins meanwhile has read it.
    async fn hand_out(&self, event: Event) {
        let begin = |room: &mut Room| {
            // Read twice, where two looks overlap.
            let is_new = event.id > room.position;
            room.position = room.position.max(event.id);
            is_new.then_some(room.next)
        };
        if let Some(last) = self.each(begin).flatten() {
            let occasion = Occasion::new(event, event.id);
            self.each_seat(last, |queue| queue.push(occasion.clone())).await;
        }
    }

    /// Does something with the queue of each seat up to number `last`, in steps between which the lock is free.
    async fn each_seat(&self, last: u64, work: impl Fn(&Queue)) {
        let mut served = 0;
        while served < last {
            let queues = self.each(|room| {
                let seats = room.seats.range((Excluded(served), Included(last))).take(STEP);
                seats.map(|(number, queue)| (*number, queue.clone())).collect::<Vec<_>>()
            });
            let queues = queues.unwrap_or_default();
            queues.iter().for_each(|(_, queue)| work(queue));
            match queues.last() {
                Some((number, _)) if queues.len() == STEP => served = *number,
                _ => return,
            }
            tokio::task::yield_now().await;
        }
    }

    /// The room, as long as there is one.
    fn each<T>(&self, work: impl FnOnce(&mut Room) -> T) -> Option<T> {
        self.rooms.all().get_mut(&self.status).map(work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::Item;
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::config::Config;
    use crate::base::ids::CommentId;
    use crate::db::{Db, Target, Timing};
    use crate::domains::comments::CommentEventKind;
    use futures_util::FutureExt;

    const STATUS: StatusId = StatusId(1);

    /// A thread that nobody reads, with nobody who follows it.
    async fn reading() -> Reading {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let rooms = Rooms::default();
        let task = AbortOnDropHandle::new(tokio::spawn(std::future::pending()));
        rooms.all().insert(STATUS, Room { position: EventId::default(), seats: BTreeMap::new(), next: 0, _task: task });
        Reading { app: App::new(db, Clock::System, Config::default()), rooms, status: STATUS }
    }

    fn join(reading: &Reading, place: EventId) -> Option<Seat> {
        reading.rooms.join(&reading.app, TermHasher::new([7; 16]), STATUS, place)
    }

    #[tokio::test]
    async fn an_event_is_handed_out_in_bounded_steps_and_not_to_who_joins_meanwhile() {
        let (reading, begin) = (reading().await, EventId::default());
        let seats: Vec<Seat> = (0..2 * STEP + 1).filter_map(|_| join(&reading, begin)).collect();
        let id = EventId { at: 1, number: 0 };
        let comment = CommentId { status: STATUS, number: 2 };
        let mut handing = Box::pin(reading.hand_out(Event { id, before: begin, comment, happened: CommentEventKind::Added }));
        let told = |seat: &&Seat| matches!(seat.queue.next().now_or_never(), Some(Item::Event(_)));
        for step in 1..=2 {
            assert!(handing.as_mut().now_or_never().is_none(), "it has more steps than {step}");
            assert_eq!(seats.iter().filter(told).count(), STEP);
        }
        assert!(join(&reading, begin).is_none(), "what was handed out is to be read first");
        let late = join(&reading, id).expect("behind the event");
        handing.await;
        assert_eq!(seats.iter().filter(told).count(), 1, "the last one");
        assert!(!told(&&late));
    }
}
