//! The events of the chats of one account. An event with several rows becomes one event for each row; a cursor may be between two rows.

use super::chat_dispatch::ChatInterest;
use super::envelope::Envelope;
use super::event_queue::EventQueue;
use super::event_source::{self, EventSource};
use super::hub::{Hub, HubSubscription};
use super::interest::Interest;
use super::log_page::LogPage;
use super::model::{GapReason, OutgoingEvent, OutgoingEventKind};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId};
use crate::base::page::Cursors;
use crate::domains::chats::service as chats;
use crate::platform::events::{ChatEvent, ChatResumePoint, Event, EventId, LogPosition, TermHasher};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

type ChatEnvelope = Envelope<Event, LogPosition>;

/// A subscription to the chats of an account.
pub struct ChatStream {
    pub(super) app: App,
    pub(super) hub: Hub,
    pub(super) term_hasher: TermHasher,
    pub(super) cursors: Cursors,
    pub(super) interest: Arc<ChatInterest>,
    /// The position in the log, and the rows that the client has been shown already.
    pub(super) resume_point: ChatResumePoint,
    pub(super) subscription: Option<HubSubscription>,
    /// Events that were read and not sent yet.
    pub(super) pending: VecDeque<Arc<ChatEnvelope>>,
    /// The rows of an event that were not sent yet.
    pub(super) rows: Option<PendingRows>,
}

/// The rows of an event that were not sent yet.
pub(super) struct PendingRows {
    chat: ChatId,
    next: u64,
    last: u64,
    /// The shard and the id of the event.
    event: (usize, EventId),
    position_after: LogPosition,
    envelope_id: u64,
}

impl ChatStream {
    /// Waits for the next event; `None` at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<OutgoingEvent> {
        match self.next_row() {
            Some(event) => Some(event),
            None => event_source::next(self).await,
        }
    }

    /// Returns the next of the pending rows that the client has not been shown, as an event; `None` if there is none.
    fn next_row(&mut self) -> Option<OutgoingEvent> {
        loop {
            let rows = self.rows.as_mut()?;
            let (sequence, envelope_id) = (rows.next, rows.envelope_id);
            let id = ChatMessageId { chat: rows.chat, sequence };
            rows.next += 1;
            if sequence < rows.last {
                self.resume_point.advance_to_row(rows.event.0, rows.event.1, sequence);
            } else {
                self.resume_point.advance_to(&rows.position_after);
                let is_over = sequence > rows.last;
                self.rows = None;
                if is_over {
                    return None;
                }
            }
            if !self.resume_point.take_shown(id) {
                let row = ChatEvent::Rows { from: sequence, to: sequence };
                return Some(self.outgoing(OutgoingEventKind::Chat(id.chat, row), Some(envelope_id)));
            }
        }
    }

    fn outgoing(&self, kind: OutgoingEventKind, envelope_id: Option<u64>) -> OutgoingEvent {
        OutgoingEvent {
            cursor: self.resume_point.encode(&self.cursors, chats::events_scope(self.interest.viewer())),
            kind,
            author: None,
            names: Vec::new(),
            restriction: None,
            requires_public: false,
            envelope_id,
            reply: None,
        }
    }

    /// Keeps the events that may be delivered to the viewer.
    async fn keep_for_viewer(&self, found: Vec<ChatLogEvent>) -> Result<Vec<Arc<ChatEnvelope>>, Error> {
        let all: Vec<chats::ChatLogEntry> = found.iter().map(|(chat, event, _)| (*chat, *event)).collect();
        let concerns = chats::filter_for_account(&self.app, self.interest.viewer(), &all).await?;
        Ok(found.into_iter().zip(concerns).filter_map(|((_, _, envelope), concerns)| concerns.then_some(envelope)).collect())
    }
}

/// An event that was read, with its chat.
type ChatLogEvent = (ChatId, ChatEvent, Arc<ChatEnvelope>);

/// Keeps only the last event about the positions of each member in a chat, since an event shows the newest positions at delivery. The last event of each kind
/// (`is_seen_only` or not) is kept: a viewer who may not see the read position of the member receives only events about the delivery position.
fn without_earlier_positions(mut events: Vec<ChatLogEvent>) -> Vec<ChatLogEvent> {
    let mut members = HashSet::new();
    events.reverse();
    events.retain(|(chat, event, _)| match event {
        ChatEvent::PositionsChanged { member, is_seen_only } => members.insert((*chat, *member, *is_seen_only)),
        _ => true,
    });
    events.reverse();
    events
}

impl EventSource for ChatStream {
    type Event = Event;
    type Position = LogPosition;

    fn pending(&mut self) -> &mut VecDeque<Arc<ChatEnvelope>> {
        &mut self.pending
    }

    fn queue(&self) -> Option<&EventQueue<Event, LogPosition>> {
        self.subscription.as_ref().map(|subscription| &*subscription.queue)
    }

    fn covers(&self, event: &Event) -> bool {
        !matches!(event.chat, Some(ChatEvent::Typing(_))) && self.resume_point.position.covers(event)
    }

    fn advance(&mut self, next: &ChatEnvelope) -> Option<OutgoingEvent> {
        let (chat, event) = next.event.in_chat()?;
        match event {
            ChatEvent::Rows { from, to } => {
                self.rows = Some(PendingRows {
                    chat,
                    next: self.resume_point.next_row(&next.event, from),
                    last: to,
                    event: (next.event.shard, next.event.id),
                    position_after: next.position_after.clone(),
                    envelope_id: next.id,
                });
                self.next_row()
            }
            // An event of typing is not in the log: its cursor is that of the event before it.
            ChatEvent::Typing(_) => Some(self.outgoing(OutgoingEventKind::Chat(chat, event), Some(next.id))),
            _ => {
                self.resume_point.advance_to(&next.position_after);
                Some(self.outgoing(OutgoingEventKind::Chat(chat, event), Some(next.id)))
            }
        }
    }

    fn skip_gap(&mut self, reason: GapReason, mut position: LogPosition) -> OutgoingEvent {
        if reason == GapReason::TooSlow {
            position.join(&self.resume_point.position);
        }
        self.resume_point = ChatResumePoint::new(position, &[]);
        self.outgoing(OutgoingEventKind::Gap(reason), None)
    }

    async fn read_log(&mut self) -> Result<Option<(GapReason, LogPosition)>, Error> {
        let found = match LogPage::read(&self.app, &self.resume_point.position).await? {
            LogPage::Events(found) => found,
            LogPage::Gap(reason, end) => return Ok(Some((reason, end))),
        };
        if found.is_empty() {
            let interest = Interest::Chats(self.interest.clone());
            self.subscription = self.hub.subscribe(&self.app, self.term_hasher, &interest, &self.resume_point.position).await;
            return Ok(None);
        }
        let (mut position_after, mut candidates) = (self.resume_point.position.clone(), Vec::new());
        for event in found {
            position_after.advance_to(&event);
            if let Some((chat, chat_event)) = event.in_chat() {
                candidates.push((chat, chat_event, Envelope::new(event, position_after.clone())));
            }
        }
        let concerning = self.keep_for_viewer(without_earlier_positions(candidates)).await?;
        if concerning.is_empty() {
            self.resume_point.advance_to(&position_after);
        }
        self.pending.extend(concerning);
        Ok(None)
    }
}
