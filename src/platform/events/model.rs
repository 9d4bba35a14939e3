//! Events and positions in the log: plain types.

use super::filter_terms::FilterTerms;
use super::repost_details::RepostDetails;
use crate::base::chat_event::ChatEvent;
use crate::base::clock::Millis;
use crate::base::ids::{ChatId, StatusId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The number of shards on a cluster.
pub(super) const SHARDS: usize = 8;

/// The id of an event in its shard; ids increase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventId {
    /// When the event was published, in ms since the epoch.
    pub at: u64,
    /// The sequence number in that millisecond.
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

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The status was posted.
    Posted,
    /// The status was deleted.
    Deleted,
    /// The audience of the status changed, so that some accounts can no longer see it.
    Narrowed,
    /// The text of the status was changed.
    Edited,
    /// The status was reposted.
    Reposted,
    /// A repost was undone.
    RepostUndone,
    /// A chat has new rows, or was changed.
    Chat,
}

/// A published event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The shard.
    pub shard: usize,
    /// The id in the shard.
    pub id: EventId,
    /// The kind.
    pub kind: EventKind,
    /// The status; for [`EventKind::Reposted`] and [`EventKind::RepostUndone`] the id of the repost; for [`EventKind::Chat`]
    /// the id of the chat.
    pub status: StatusId,
    /// The status's filter terms.
    pub terms: FilterTerms,
    /// The details of an event about a repost, which only feeds receive.
    pub repost: Option<Arc<RepostDetails>>,
    /// The change of a chat; such an event goes to the chat's members alone.
    pub chat: Option<ChatEvent>,
}

impl Event {
    /// The chat of an event, and its change; `None` for an event of a status.
    pub fn in_chat(&self) -> Option<(ChatId, ChatEvent)> {
        self.chat.map(|event| (ChatId(self.status.0), event))
    }
}

/// A row of a chat up to which rows exist, or up to which they were published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatHead {
    /// The number of the row.
    pub row: u64,
    /// The id of the row; `None` if it is unknown. Ids rise with the rows of a chat. A chat that has lost rows gives their numbers to new rows, which have
    /// other ids.
    pub id: Option<u64>,
}

/// The state of the publication of a chat's rows, as the chat stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredPublication {
    /// The row up to which all rows were published.
    pub published: u64,
    /// When that row was read.
    pub at: Millis,
    /// A row that was published before the chat has lost it.
    pub lost: Option<ChatHead>,
}

/// Rows of a chat whose numbers the log has. The chat has lost rows if it no longer has the row of one of the two heads,
/// or has another row with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedRows {
    /// The row up to which all rows were published.
    pub head: ChatHead,
    /// The last row of the event before the one that was appended now; if none was appended, of the event that has the newest row.
    pub earlier: ChatHead,
}

/// A position in the log: the last event of each shard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPosition(pub Vec<EventId>);

impl LogPosition {
    /// Whether the position covers an event: the event is at the position or before it.
    pub fn covers(&self, event: &Event) -> bool {
        self.0.get(event.shard).is_some_and(|last| event.id <= *last)
    }

    /// Advances each shard to `other`, if that is later.
    pub fn join(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(last, other)| *last = (*last).max(*other));
    }

    /// Advances to an event.
    pub fn advance_to(&mut self, event: &Event) {
        if let Some(last) = self.0.get_mut(event.shard) {
            *last = (*last).max(event.id);
        }
    }
}

/// The result of reading a shard after a position.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadResult {
    /// The next events of the shard, in order; empty at the end of the log.
    Events(Vec<Event>),
    /// The next events were already trimmed.
    Expired,
    /// The storage has lost events: the event at the position does not exist.
    Lost,
}
