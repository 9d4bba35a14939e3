//! The events of one subscription: it reads what it has missed, then waits for what the hub dispatches.

use super::envelope::Envelope;
use super::event_queue::EventQueue;
use super::event_source::{self, EventSource, PAGE};
use super::hidden_authors::HiddenAuthors;
use super::hub::{Hub, HubSubscription};
use super::interest::Interest;
use super::model::{GapReason, OutgoingEvent, OutgoingEventKind, Restriction};
use super::recipients;
use super::thread_stream::ThreadStream;
use super::thread_viewer::ThreadViewer;
use crate::app::App;
use crate::base::error::Error;
use crate::base::page::{Cursors, ListId};
use crate::base::viewer::Viewer;
use crate::domains::statuses::service as statuses;
use crate::platform::events::service as events;
use crate::platform::events::{Event, EventKind, LogPosition, ReadResult, ResumePoint, TermHasher};
use std::collections::VecDeque;
use std::sync::Arc;

/// The events of one running subscription.
pub enum SubscriptionStream {
    /// A stream of statuses.
    Statuses(StatusStream),
    /// A stream of a thread, for its viewer.
    Thread(ThreadStream, ThreadViewer),
}

impl SubscriptionStream {
    /// Waits for the next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<OutgoingEvent> {
        match self {
            Self::Statuses(stream) => event_source::next(stream).await,
            Self::Thread(stream, viewer) => viewer.next(stream).await,
        }
    }

    /// Whether the subscription still wants an event. Checked when its response is made: the author may have stopped being a source of the
    /// feed, or may be hidden from the viewer, since the event happened.
    pub fn is_still_wanted(&self, event: &OutgoingEvent) -> bool {
        match self {
            Self::Statuses(stream) => event.author.is_none_or(|author| stream.is_delivered(author)),
            Self::Thread(..) => true,
        }
    }

    /// Whether `viewer`, who has this subscription, receives an event that not all subscribers receive.
    pub async fn receives(&self, viewer: Option<&Viewer>, event: &OutgoingEvent) -> bool {
        match self {
            Self::Statuses(stream) => {
                recipients::receives(&stream.app, viewer, event).await && stream.shows_reply(viewer, event).await
            }
            Self::Thread(..) => true,
        }
    }

    /// The viewer for whom alone the next event is rendered; `None` if it is rendered as the document says.
    pub fn own_rendering(&self) -> Option<&Viewer> {
        match self {
            Self::Thread(_, viewer) => viewer.own_rendering(),
            Self::Statuses(_) => None,
        }
    }
}

/// The restriction of an event; `None` if everyone receives it whom it matches.
fn restriction(event: &Event) -> Option<Restriction> {
    let before = event.terms.audience?;
    Some(Restriction { before, is_narrowed: event.kind == EventKind::Narrowed })
}

/// An event of a status, with the position of the log behind it.
type StatusEnvelope = Envelope<Event, LogPosition>;

/// A subscription to statuses: a feed, or a filter of the public stream.
pub struct StatusStream {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) interest: Interest,
    /// The authors that are hidden from the viewer; `None` without a session.
    pub(super) hidden: Option<Arc<HiddenAuthors>>,
    pub(super) list: ListId,
    /// The position in the log, and the statuses that the client has been shown already.
    pub(super) place: ResumePoint,
    pub(super) subscription: Option<HubSubscription>,
    /// Events that were read and not sent yet.
    pub(super) pending: VecDeque<Arc<StatusEnvelope>>,
}

impl EventSource for StatusStream {
    type Event = Event;
    type Position = LogPosition;

    fn pending(&mut self) -> &mut VecDeque<Arc<StatusEnvelope>> {
        &mut self.pending
    }

    fn queue(&self) -> Option<&EventQueue<Event, LogPosition>> {
        self.subscription.as_ref().map(|subscription| &*subscription.queue)
    }

    fn covers(&self, event: &Event) -> bool {
        self.place.position.covers(event)
    }

    fn advance(&mut self, next: &StatusEnvelope) -> Option<OutgoingEvent> {
        let kind = self.kind_of(&next.event);
        // A subscription that has read the log itself may be ahead in other shards.
        self.place.position.join(&next.behind);
        kind.map(|kind| self.outgoing(kind, Some(next)))
    }

    fn skip_gap(&mut self, reason: GapReason, mut behind: LogPosition) -> OutgoingEvent {
        if reason == GapReason::TooSlow {
            behind.join(&self.place.position);
        }
        self.place = ResumePoint::new(behind, Vec::new());
        self.outgoing(OutgoingEventKind::Gap(reason), None)
    }

    async fn read_log(&mut self) -> Result<Option<(GapReason, LogPosition)>, Error> {
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
            self.subscription = self.hub.subscribe(&self.app, self.term_hasher, &self.interest, &self.place.position).await;
            return Ok(None);
        }
        found.sort_by_key(|event| event.id);
        let (mut behind, mut wanted) = (self.place.position.clone(), Vec::new());
        for event in found {
            behind.pass(&event);
            if self.interest.matches(&self.term_hasher, &event) {
                wanted.push((event, behind.clone()));
            }
        }
        match wanted.last_mut() {
            // Unwanted events behind the last wanted one are skipped with it.
            Some(last) => last.1 = behind,
            None => self.place.position = behind,
        }
        self.pending.extend(wanted.into_iter().map(|(event, behind)| Envelope::new(event, behind)));
        Ok(None)
    }
}

impl StatusStream {
    fn outgoing(&self, kind: OutgoingEventKind, of: Option<&StatusEnvelope>) -> OutgoingEvent {
        let cursor = self.place.encode(&self.cursors, self.list);
        let requires_public = matches!(self.interest, Interest::Public(_));
        OutgoingEvent {
            cursor,
            kind,
            author: of.map(|it| it.event.terms.author),
            restriction: of.and_then(|it| restriction(&it.event)),
            requires_public,
            envelope_id: of.map(|it| it.id),
        }
    }

    /// Converts an event to the form that this subscription sends; `None` if the subscription does not want it.
    fn kind_of(&mut self, event: &Event) -> Option<OutgoingEventKind> {
        let (status, kind) = (event.status, event.kind);
        if kind == EventKind::Posted && self.place.take_shown(status.0) {
            return None;
        }
        let kind = match kind {
            EventKind::Posted => OutgoingEventKind::Posted(status),
            EventKind::Edited => OutgoingEventKind::Edited(status),
            // To those who can no longer see a status, it is deleted.
            EventKind::Deleted | EventKind::Narrowed => OutgoingEventKind::Deleted(status),
        };
        let is_kept_out = matches!(self.interest, Interest::Public(_)) && !event.terms.is_public();
        (!is_kept_out && self.is_delivered(event.terms.author)).then_some(kind)
    }

    /// Whether statuses of an author are delivered to this subscription now.
    fn is_delivered(&self, author: u64) -> bool {
        let is_hidden = self.hidden.as_ref().is_some_and(|hidden| hidden.has(author, self.app.now()));
        !is_hidden && self.has_source(author)
    }

    /// Whether the feed of this subscription shows a new or edited status by the rule on replies. At most one round trip; none for a cached status.
    async fn shows_reply(&self, viewer: Option<&Viewer>, event: &OutgoingEvent) -> bool {
        let (Interest::Feed(sources), Some(viewer)) = (&self.interest, viewer) else { return true };
        let (OutgoingEventKind::Posted(id) | OutgoingEventKind::Edited(id)) = event.kind else { return true };
        let Some((author, reply)) = recipients::reply_of(&self.app, id).await else { return true };
        let is_source = reply.parent_author.is_some_and(|author| sources.has(self.term_hasher.author(author)));
        statuses::answers_a_source(viewer.user, author, reply.parent_author, is_source)
    }

    fn has_source(&self, author: u64) -> bool {
        match &self.interest {
            Interest::Feed(sources) => sources.has(author),
            Interest::Public(_) => true,
        }
    }
}
