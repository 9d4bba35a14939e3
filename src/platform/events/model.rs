//! Events and places between them: plain types.

use super::filter_terms::FilterTerms;
use crate::base::ids::StatusId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Shards on a cluster.
pub(super) const SHARDS: usize = 8;

/// The id of an event in its shard; later ones are greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// When it was told, in ms since the epoch.
    pub at: u64,
    /// Which of that millisecond.
    pub number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at, self.number)
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (at, number) = text.split_once('-').ok_or(())?;
        Ok(Self { at: at.parse().map_err(drop)?, number: number.parse().map_err(drop)? })
    }
}

/// What happened to a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It was posted.
    Posted,
    /// It was deleted.
    Deleted,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its shard.
    pub shard: usize,
    /// Its id.
    pub id: EventId,
    /// What it was.
    pub kind: EventKind,
    /// Of which status.
    pub status: StatusId,
    /// What filters ask of that status.
    pub terms: FilterTerms,
}

/// A place between events: the last one of each shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition(pub Vec<EventId>);

impl LogPosition {
    /// Whether an event comes before it.
    pub fn is_past(&self, event: &Event) -> bool {
        self.0.get(event.shard).is_some_and(|last| event.id <= *last)
    }

    /// Goes on to another place, where that is further on.
    pub fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(last, other)| *last = (*last).max(*other));
    }

    /// Goes on to an event.
    pub fn pass(&mut self, event: &Event) {
        if let Some(last) = self.0.get_mut(event.shard) {
            *last = (*last).max(event.id);
        }
    }
}

/// What reading on from a place gave.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// The next events of a shard, in their order; none at the end.
    Events(Vec<Event>),
    /// What came next is kept no longer.
    Expired,
    /// The storage has lost events: what stood at this place is not there.
    Lost,
}
