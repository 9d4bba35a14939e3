//! The events of one subscription: it reads missed events from the log, then waits for events that the hub dispatches.

use super::chat_stream::ChatStream;
use super::envelope::Envelope;
use super::event_queue::EventQueue;
use super::event_source::{self, EventSource};
use super::hidden_authors::HiddenAuthors;
use super::hub::{Hub, HubSubscription};
use super::interest::Interest;
use super::log_page::LogPage;
use super::model::{GapReason, OutgoingEvent, OutgoingEventKind, Restriction, StatusRepost};
use super::recipients;
use super::thread_stream::ThreadStream;
use super::thread_viewer::ThreadViewer;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::page::{CursorScope, Cursors};
use crate::base::viewer::Viewer;
use crate::domains::statuses::service as statuses;
use crate::platform::events::{Event, EventKind, LogPosition, RepostDetails, ResumePoint, TermHasher};
use std::collections::VecDeque;
use std::sync::Arc;

/// The events of one running subscription.
pub enum SubscriptionStream {
    /// A stream of statuses.
    Statuses(StatusStream),
    /// A stream of a thread, for its viewer.
    Thread(ThreadStream, ThreadViewer),
    /// The events of the chats of an account.
    Chats(ChatStream),
}

impl SubscriptionStream {
    /// Waits for the next event; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<OutgoingEvent> {
        match self {
            Self::Statuses(stream) => event_source::next(stream).await,
            Self::Thread(stream, viewer) => viewer.next(stream).await,
            Self::Chats(stream) => stream.next().await,
        }
    }

    /// Whether an event is still delivered to this subscription. Checked after the response was rendered: since the event was published, the author may have
    /// been removed from the sources of the feed, or hidden from the viewer.
    pub fn is_still_delivered(&self, event: &OutgoingEvent) -> bool {
        match self {
            Self::Statuses(stream) => event.author.is_none_or(|author| stream.is_delivered(author, &event.names)),
            Self::Thread(..) | Self::Chats(_) => true,
        }
    }

    /// Whether `viewer`, who has this subscription, receives an event that not all subscribers receive; `None` if a stored object that decides this is invalid.
    pub async fn receives(&self, viewer: Option<&Viewer>, event: &OutgoingEvent) -> Option<bool> {
        match self {
            Self::Statuses(stream) => {
                let is_tag = matches!(stream.interest, Interest::Tag(_));
                if !recipients::receives(&stream.app, viewer, event, is_tag).await? || !stream.shows_reply(viewer, event).await {
                    return Some(false);
                }
                stream.shows_repost(viewer, event).await
            }
            Self::Thread(..) | Self::Chats(_) => Some(true),
        }
    }

    /// The viewer for whom alone the next event is rendered; `None` if the rendered response may be shared with other subscriptions.
    pub fn own_rendering(&self) -> Option<&Viewer> {
        match self {
            Self::Thread(_, viewer) => viewer.own_rendering(),
            Self::Statuses(_) | Self::Chats(_) => None,
        }
    }
}

/// The restriction of an event; `None` if all matching subscriptions receive it.
fn restriction(event: &Event) -> Option<Restriction> {
    let before = match event.repost.as_deref() {
        Some(RepostDetails::Change { audience, .. }) => (*audience)?,
        Some(RepostDetails::Repost { .. }) | None => event.terms.audience?,
    };
    Some(Restriction { before, is_narrowed: event.kind == EventKind::Narrowed })
}

/// An event of a status, with the position of the log after it.
type StatusEnvelope = Envelope<Event, LogPosition>;

/// A subscription to statuses: a feed, a filter of the public stream, a tag, or mentions.
pub struct StatusStream {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) interest: Interest,
    /// The authors that are hidden from the viewer; `None` without a session.
    pub(super) hidden: Option<Arc<HiddenAuthors>>,
    pub(super) scope: CursorScope,
    /// The position in the log, and the statuses that the client has been shown already.
    pub(super) resume_point: ResumePoint,
    pub(super) subscription: Option<HubSubscription>,
    /// Events that were read and not sent yet.
    pub(super) pending: VecDeque<Arc<StatusEnvelope>>,
    /// The last changes that were sent because of reposts, each once: a change of a status with many reposts has an event for every thousand of them.
    pub(super) sent_via: VecDeque<(StatusId, EventKind, u64)>,
}

/// The number of changes in `sent_via`.
const MAX_SENT_VIA: usize = 64;

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
        self.resume_point.position.covers(event)
    }

    fn advance(&mut self, next: &StatusEnvelope) -> Option<OutgoingEvent> {
        let kind = self.kind_of(&next.event);
        // A subscription that has read the log itself may be ahead in other shards.
        self.resume_point.position.join(&next.position_after);
        kind.map(|kind| self.outgoing(kind, Some(next)))
    }

    fn skip_gap(&mut self, reason: GapReason, mut position: LogPosition) -> OutgoingEvent {
        if reason == GapReason::TooSlow {
            position.join(&self.resume_point.position);
        }
        self.resume_point = ResumePoint::new(position, Vec::new());
        self.outgoing(OutgoingEventKind::Gap(reason), None)
    }

    async fn read_log(&mut self) -> Result<Option<(GapReason, LogPosition)>, Error> {
        let found = match LogPage::read(&self.app, &self.resume_point.position).await? {
            LogPage::Events(found) => found,
            LogPage::Gap(reason, end) => return Ok(Some((reason, end))),
        };
        if found.is_empty() {
            self.subscription =
                self.hub.subscribe(&self.app, self.term_hasher, &self.interest, &self.resume_point.position).await;
            return Ok(None);
        }
        let (mut position_after, mut matching) = (self.resume_point.position.clone(), Vec::new());
        for event in found {
            position_after.advance_to(&event);
            if self.interest.matches(&self.term_hasher, &event) {
                matching.push((event, position_after.clone()));
            }
        }
        match matching.last_mut() {
            // Events after the last matching one do not match: they are skipped with it.
            Some(last) => last.1 = position_after,
            None => self.resume_point.position = position_after,
        }
        self.pending.extend(matching.into_iter().map(|(event, position_after)| Envelope::new(event, position_after)));
        Ok(None)
    }
}

impl StatusStream {
    fn outgoing(&self, kind: OutgoingEventKind, envelope: Option<&StatusEnvelope>) -> OutgoingEvent {
        let cursor = self.resume_point.encode(&self.cursors, self.scope);
        let requires_public = self.interest.is_public();
        OutgoingEvent {
            cursor,
            kind,
            author: envelope.map(|it| self.source_of(&it.event)),
            names: envelope.map(|it| it.event.terms.names.clone()).unwrap_or_default(),
            restriction: envelope.and_then(|it| restriction(&it.event)),
            requires_public,
            envelope_id: envelope.map(|it| it.id),
            reply: envelope.map(|it| it.reply.clone()),
        }
    }

    /// Converts an event to the form that this subscription sends; `None` if this subscription does not send it.
    fn kind_of(&mut self, event: &Event) -> Option<OutgoingEventKind> {
        let (status, kind) = (event.status, event.kind);
        if matches!(kind, EventKind::Posted | EventKind::Reposted) && self.resume_point.take_shown(status.0) {
            return None;
        }
        if event.repost.is_some() && !self.accept_repost_event(event) {
            return None;
        }
        let repost = match event.repost.as_deref() {
            Some(RepostDetails::Repost { status: reposted, by }) => {
                Some(StatusRepost { id: status.0, status: *reposted, reposter: *by })
            }
            Some(RepostDetails::Change { .. }) | None => None,
        };
        let kind = match kind {
            EventKind::Reposted => OutgoingEventKind::Reposted(repost?),
            EventKind::RepostUndone => OutgoingEventKind::RepostUndone(repost?),
            EventKind::Posted => OutgoingEventKind::Posted(status),
            EventKind::Edited if self.interest.stops_matching(event) => OutgoingEventKind::EditedAway(status),
            EventKind::Edited => OutgoingEventKind::Edited(status),
            // To those who can no longer see a status, it is deleted.
            EventKind::Deleted | EventKind::Narrowed => OutgoingEventKind::Deleted(status),
            EventKind::Chat => return None,
        };
        let is_kept_out = self.interest.is_public() && !event.terms.is_public();
        (!is_kept_out && self.is_delivered(self.source_of(event), &event.terms.names)).then_some(kind)
    }

    /// The filter term of the source by which the stream receives an event: the author, or the reposter for an event that feeds receive because of a
    /// repost.
    fn source_of(&self, event: &Event) -> u64 {
        match event.repost.as_deref() {
            Some(RepostDetails::Change { accounts, .. }) => {
                accounts.iter().find(|account| self.shows_reposts_of(**account)).copied().unwrap_or(event.terms.author)
            }
            Some(RepostDetails::Repost { .. }) | None => event.terms.author,
        }
    }

    /// Whether an account is a source that is not hidden from the viewer, and whose reposts the viewer has not turned off.
    fn shows_reposts_of(&self, account: u64) -> bool {
        let hides = matches!(&self.interest, Interest::Feed(sources) if sources.hides_reposts(account));
        !hides && self.is_delivered(account, &[])
    }

    /// Whether an event passes those rules on reposts that need no read. A feed that has the author as a source receives the author's own event
    /// instead. A change passes only once: it is recorded in `sent_via`.
    fn accept_repost_event(&mut self, event: &Event) -> bool {
        let Some(RepostDetails::Change { accounts, change, .. }) = event.repost.as_deref() else {
            return self.shows_reposts_of(event.terms.author);
        };
        let author = event.terms.author;
        let is_hidden = self.hidden.as_ref().is_some_and(|hidden| hidden.has(author, self.app.now()));
        if is_hidden || self.has_source(author, &[]) || !accounts.iter().any(|account| self.shows_reposts_of(*account)) {
            return false;
        }
        let change = (event.status, event.kind, *change);
        if self.sent_via.contains(&change) {
            return false;
        }
        self.sent_via.truncate(MAX_SENT_VIA - 1);
        self.sent_via.push_front(change);
        true
    }

    /// Whether the feed of this subscription shows a repost, or would show one that was undone. A few round trips; no round trip for
    /// other events, which are always shown.
    async fn shows_repost(&self, viewer: Option<&Viewer>, event: &OutgoingEvent) -> Option<bool> {
        let (repost, exists) = match event.kind {
            OutgoingEventKind::Reposted(repost) => (repost, true),
            OutgoingEventKind::RepostUndone(repost) => (repost, false),
            _ => return Some(true),
        };
        let Interest::Feed(sources) = &self.interest else { return Some(false) };
        recipients::receives_repost(&self.app, viewer, sources.feed(), repost, exists).await
    }

    /// Whether statuses by an author and with these names (tags and mentions) are delivered to this subscription now.
    fn is_delivered(&self, author: u64, names: &[u64]) -> bool {
        let is_hidden = self.hidden.as_ref().is_some_and(|hidden| hidden.has(author, self.app.now()));
        !is_hidden && self.has_source(author, names)
    }

    /// Whether the feed of this subscription shows a new or edited status by the rule on replies. At most one round trip for all
    /// subscriptions to which the hub dispatches the event; no round trip for a cached status and for other events, which are always shown.
    async fn shows_reply(&self, viewer: Option<&Viewer>, event: &OutgoingEvent) -> bool {
        let (Interest::Feed(sources), Some(viewer)) = (&self.interest, viewer) else { return true };
        let (OutgoingEventKind::Posted(id) | OutgoingEventKind::Edited(id)) = event.kind else { return true };
        let Some(shared) = &event.reply else { return true };
        let Some((author, reply)) = shared.get_or_read(recipients::reply_of(&self.app, id)).await else { return true };
        if event.author != Some(self.term_hasher.author(author)) {
            return true; // The rule does not apply to reposts.
        }
        let is_source = |author| sources.has(self.term_hasher.author(author));
        // A reply is not shown for its tag alone: its author must be a source.
        is_source(author)
            && statuses::is_reply_shown(viewer.user, author, reply.parent_author, reply.parent_author.is_some_and(is_source))
    }

    fn has_source(&self, author: u64, names: &[u64]) -> bool {
        match &self.interest {
            Interest::Feed(sources) => sources.matches(author, names),
            Interest::Public(_) | Interest::Tag(_) | Interest::Mentions(_) => true,
            Interest::Chats(_) => false,
        }
    }
}
