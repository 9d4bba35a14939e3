//! A subscription to a thread: reads missed events from the thread's log, then waits for events that the thread's channel dispatches.

use super::envelope::Envelope;
use super::event_queue::EventQueue;
use super::event_source::{EventSource, PAGE};
use super::model::{GapReason, OutgoingEvent, OutgoingEventKind};
use super::thread_channel::{SubscriberHandle, ThreadChannels};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::page::Cursors;
use crate::domains::comments::service as comments;
use crate::domains::comments::{ThreadEvent, ThreadEventId, ThreadEventPage};
use crate::platform::events::TermHasher;
use std::collections::VecDeque;
use std::sync::Arc;

/// A subscription to the comments of one thread.
pub struct ThreadStream {
    pub(super) app: App,
    pub(super) channels: ThreadChannels,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) status: StatusId,
    /// The last event that was sent or skipped.
    pub(super) position: ThreadEventId,
    pub(super) subscriber: Option<SubscriberHandle>,
    /// Events that were read and not sent yet.
    pub(super) pending: VecDeque<Arc<Envelope<ThreadEvent, ThreadEventId>>>,
}

impl EventSource for ThreadStream {
    type Event = ThreadEvent;
    type Position = ThreadEventId;

    fn pending(&mut self) -> &mut VecDeque<Arc<Envelope<ThreadEvent, ThreadEventId>>> {
        &mut self.pending
    }

    fn queue(&self) -> Option<&EventQueue<ThreadEvent, ThreadEventId>> {
        self.subscriber.as_ref().map(|subscriber| &*subscriber.queue)
    }

    fn covers(&self, event: &ThreadEvent) -> bool {
        event.id <= self.position
    }

    fn advance(&mut self, next: &Envelope<ThreadEvent, ThreadEventId>) -> Option<OutgoingEvent> {
        self.position = next.event.id;
        let kind = OutgoingEventKind::Comment(next.event.comment, next.event.kind);
        Some(OutgoingEvent { envelope_id: Some(next.id), ..self.outgoing(kind) })
    }

    fn skip_gap(&mut self, reason: GapReason, position: ThreadEventId) -> OutgoingEvent {
        self.position = position;
        self.outgoing(OutgoingEventKind::Gap(reason))
    }

    async fn read_log(&mut self) -> Result<Option<(GapReason, ThreadEventId)>, Error> {
        let reason = match comments::events(&self.app, self.status, self.position, PAGE).await? {
            ThreadEventPage::Events(found) if found.is_empty() => {
                self.subscriber = self.channels.subscribe(&self.app, self.term_hasher, self.status, self.position);
                return Ok(None);
            }
            ThreadEventPage::Events(found) => {
                self.pending.extend(found.into_iter().map(|event| Envelope::new(event, event.id)));
                return Ok(None);
            }
            ThreadEventPage::Expired => GapReason::Expired,
            ThreadEventPage::Lost => GapReason::Lost,
        };
        Ok(Some((reason, comments::position(&self.app, self.status).await?.0)))
    }
}

impl ThreadStream {
    fn outgoing(&self, kind: OutgoingEventKind) -> OutgoingEvent {
        let cursor = comments::encode_event(&self.cursors, self.status, self.position);
        OutgoingEvent {
            cursor,
            kind,
            author: None,
            names: Vec::new(),
            restriction: None,
            requires_public: false,
            envelope_id: None,
            reply: None,
        }
    }
}
