//! Plain types: filters as requested, and events as they are sent.

use super::shared_reply::SharedReply;
use crate::base::ids::{ChatId, CommentId, StatusId, UserId};
use crate::base::named::named_enum;
use crate::domains::chats::ChatEventContent;
use crate::domains::comments::{self, CommentEventKind};
use crate::domains::statuses::ViewedStatus;
use crate::domains::users::User;
use crate::platform::events::{ChatEvent, EventAudience};
use std::sync::Arc;

/// An event for one subscription, with its cursor.
#[derive(Clone, Debug)]
pub struct OutgoingEvent {
    /// Passed as `after`, it resumes the stream after this event.
    pub cursor: String,
    /// The kind of the event.
    pub kind: OutgoingEventKind,
    /// The filter term of the author, for events of statuses; of the reposter, for events that a feed receives because of a repost.
    pub(crate) author: Option<u64>,
    /// The hashes of the tags and mentions of the status.
    pub(crate) names: Vec<u64>,
    /// Decides which of the matching subscriptions receive a deletion; `None` if all do.
    pub(crate) restriction: Option<Restriction>,
    /// Whether the stream has only public statuses of public accounts, as the public stream and the stream of a tag.
    pub(crate) requires_public: bool,
    /// Identifies the event in this process, so that it is rendered once for all of its recipients; `None` for a gap.
    pub(crate) envelope_id: Option<u64>,
    /// For events of statuses: whether the status is a reply.
    pub(crate) reply: Option<SharedReply>,
}

/// The restriction of an event: which subscribers receive the deletion of a status that was not public, or is not public any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restriction {
    /// The audience before the event.
    pub(super) before: EventAudience,
    /// Whether the status still exists, with another audience: subscribers who can still see it do not receive the event.
    pub(super) is_narrowed: bool,
}

impl OutgoingEvent {
    /// Whether the visibility of the event can differ between viewers.
    pub(crate) const fn may_be_private(&self) -> bool {
        !self.requires_public && !matches!(self.kind, OutgoingEventKind::Deleted(_) | OutgoingEventKind::Gap(_))
    }

    /// A gap that replaces this event, with the same cursor.
    pub(crate) fn to_gap(&self) -> Self {
        Self { kind: OutgoingEventKind::Gap(GapReason::Lost), envelope_id: None, ..self.clone() }
    }
}

/// The kind of an event, with its ids.
#[derive(Clone, Copy, Debug)]
pub enum OutgoingEventKind {
    /// A status was posted. Whether the viewer may see it is checked when it is rendered.
    Posted(StatusId),
    /// The text of a status was changed. Whether the viewer may see it is checked when it is rendered.
    Edited(StatusId),
    /// The text of a status was changed, and the filter of the stream does not match the new text: the last event of the status in this stream,
    /// unless a later edit makes it match again. If the status was deleted or is not public any more when this event is delivered, the subscriber
    /// receives a deletion instead: the event of the deletion goes only to filters that match the new text.
    EditedAway(StatusId),
    /// A status was deleted.
    Deleted(StatusId),
    /// A status was reposted.
    Reposted(StatusRepost),
    /// A repost was undone.
    RepostUndone(StatusRepost),
    /// A comment was added, edited, deleted or voted on.
    Comment(CommentId, CommentEventKind),
    /// A row of a chat, or a change of the chat. An event of the log with several rows is one event for each row here.
    Chat(ChatId, ChatEvent),
    /// Events before this one may be missing.
    Gap(GapReason),
}

/// A repost in an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRepost {
    /// The id, which holds the time.
    pub id: u64,
    /// The status.
    pub status: StatusId,
    /// The account that has reposted the status.
    pub reposter: UserId,
}

/// An event with its objects, as the viewer may see them.
pub(crate) struct HydratedEvent {
    pub(super) cursor: String,
    pub(super) content: EventContent,
}

/// The content of a [`HydratedEvent`], with loaded objects.
pub(crate) enum EventContent {
    Posted(ViewedStatus),
    Edited(ViewedStatus),
    Deleted(StatusId),
    Reposted(ViewedStatus, StatusRepost, Arc<User>),
    RepostUndone(StatusRepost),
    Comment(comments::VisibleComment, CommentEventKind),
    CommentDeleted(CommentId, u64),
    Chat(Box<ChatEventContent>),
    Gap(GapReason),
}

named_enum! {
    /// Reason of a gap in a stream.
    pub enum GapReason {
        /// The cursor is too old: events are retained for a limited time and up to a limited number.
        Expired = "expired",
        /// The storage has lost events, or an event cannot be read.
        Lost = "lost",
        /// The client read its events too slowly.
        TooSlow = "too_slow",
    }
}

/// A filter as the client sent it, unchecked.
#[derive(Clone, Debug, Default)]
pub struct FilterInput {
    /// Percentage of all statuses.
    pub sample: Option<f64>,
    /// Phrases; any of them must match.
    pub track: Option<Vec<String>>,
    /// Logins of authors or mentioned accounts.
    pub follow: Option<Vec<String>>,
    /// Boxes in which statuses were posted.
    pub locations: Option<Vec<BoundingBox>>,
    /// Selects which statuses are in the sample: an equal value gives the same statuses.
    pub identifier: Option<String>,
}

/// A box on the earth, edges included. A box whose west is greater than its east crosses the antimeridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    /// Degrees of longitude, -180 to 180.
    pub west: f64,
    /// Degrees of latitude, -90 to 90.
    pub south: f64,
    /// Degrees of longitude.
    pub east: f64,
    /// Degrees of latitude.
    pub north: f64,
}

impl BoundingBox {
    /// Whether the box contains a location (latitude, longitude). Longitudes -180 and 180 are the same meridian.
    pub fn contains(&self, (latitude, longitude): (f64, f64)) -> bool {
        let spans = self.spans(longitude) || (longitude.abs() == 180.0 && self.spans(-longitude));
        (self.south..=self.north).contains(&latitude) && spans
    }

    /// The edges as numbers that can be compared and hashed.
    pub(super) fn bits(&self) -> [u64; 4] {
        [self.west, self.south, self.east, self.north].map(f64::to_bits)
    }

    fn spans(&self, longitude: f64) -> bool {
        if self.west <= self.east {
            (self.west..=self.east).contains(&longitude)
        } else {
            longitude >= self.west || longitude <= self.east
        }
    }
}
