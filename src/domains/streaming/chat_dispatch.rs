//! The dispatch of events of chats. The subscriptions of an event are found by the members of its chat that are connected to this process: no
//! subscription is compared. One task reads the members, for many events in one pipeline, and dispatches the events in the order of the log.

use super::envelope::Envelope;
use super::event_source::RETRY_DELAY;
use super::hub::{Hub, HubState, next_queues};
use super::index_change::IndexedReceiver;
use super::posting::InterestId;
use crate::app::App;
use crate::base::ids::UserId;
use crate::domains::chats::service as chats;
use crate::platform::events::service as events;
use crate::platform::events::{Event, LogPosition, TermHasher};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::task::yield_now;

/// Maximum number of events that wait for the task. While the queue is full, the listener waits.
const QUEUE_LENGTH: usize = 1_024;
/// Maximum number of events whose recipients are read in one pipeline.
const BATCH: usize = 64;

/// An event to dispatch.
pub(super) struct ChatDispatch {
    envelope: Arc<Envelope<Event, LogPosition>>,
    /// The number of the newest subscription when the dispatch of the event began: later subscriptions have read the event.
    last: u64,
}

impl ChatDispatch {
    pub(super) const fn new(envelope: Arc<Envelope<Event, LogPosition>>, last: u64) -> Self {
        Self { envelope, last }
    }
}

/// The interest in the chats of one account, shared by the account's subscriptions.
pub(super) struct ChatInterest {
    hub: Hub,
    viewer: UserId,
    id: InterestId,
    indexed: IndexedReceiver,
}

impl ChatInterest {
    /// The account.
    pub(super) const fn viewer(&self) -> UserId {
        self.viewer
    }

    /// The id of the interest.
    pub(super) const fn id(&self) -> InterestId {
        self.id
    }

    /// Returns a receiver that is always `true`: interests in chats are not in the index.
    pub(super) fn indexed(&self) -> IndexedReceiver {
        self.indexed.clone()
    }
}

impl Drop for ChatInterest {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        // A newer instance may have replaced this one.
        if state.chats.get(&self.viewer).is_some_and(|(_, it)| it.strong_count() == 0) {
            state.chats.remove(&self.viewer);
        }
        if state.chats.is_empty() {
            state.unsubscribe(events::typing_channel);
        }
    }
}

impl Hub {
    /// Returns the interest in the chats of an account, shared by all of its subscriptions. No round trip.
    pub(super) fn chat_interest(&self, app: &App, term_hasher: TermHasher, viewer: UserId) -> Arc<ChatInterest> {
        let mut state = self.state();
        if let Some(interest) = state.chats.get(&viewer).and_then(|(_, interest)| interest.upgrade()) {
            return interest;
        }
        drop(self.subscriber(app, term_hasher, &mut state));
        if state.chats.is_empty() {
            state.subscribe(events::typing_channel);
        }
        if state.chat_dispatches.is_none() {
            let (sender, dispatches) = mpsc::channel(QUEUE_LENGTH);
            state.chat_dispatches = Some(sender);
            tokio::spawn(dispatch_all(app.clone(), self.clone(), dispatches));
        }
        let (id, indexed) = (state.next_interest(), watch::Sender::new(true).subscribe());
        let interest = Arc::new(ChatInterest { hub: self.clone(), viewer, id, indexed });
        state.chats.insert(viewer, (id, Arc::downgrade(&interest)));
        interest
    }

    /// Enqueues an event of a chat for the task that dispatches events of chats.
    pub(super) async fn dispatch_to_chat(&self, dispatch: ChatDispatch) {
        let dispatches = self.state().chat_dispatches.clone();
        if let Some(dispatches) = dispatches {
            // Sending fails only when the process ends: the task ends with it.
            drop(dispatches.send(dispatch).await);
        }
    }

    /// Dispatches an event of typing, which is not in the log.
    pub(super) async fn dispatch_typing(&self, event: Event) {
        let dispatch = {
            let state = self.state();
            let Some(position) = state.position.clone().filter(|_| !state.chats.is_empty()) else { return };
            ChatDispatch::new(Envelope::new(event, position), state.last_number)
        };
        self.dispatch_to_chat(dispatch).await;
    }
}

/// Dispatches events in their order.
async fn dispatch_all(app: App, hub: Hub, mut dispatches: mpsc::Receiver<ChatDispatch>) {
    let mut batch = Vec::with_capacity(BATCH);
    while dispatches.recv_many(&mut batch, BATCH).await > 0 {
        let events: Vec<chats::ChatLogEntry> = batch.iter().filter_map(|dispatch| dispatch.envelope.event.in_chat()).collect();
        let recipients = loop {
            match chats::recipients(&app, &events).await {
                Ok(recipients) => break recipients,
                Err(error) => {
                    tracing::debug!(%error, "the members of a chat could not be read");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
            }
        };
        for (dispatch, recipients) in batch.drain(..).zip(recipients) {
            enqueue_for(&hub, &dispatch, &recipients).await;
        }
    }
}

/// Appends an event to the queues of the subscriptions of these accounts, in bounded steps.
async fn enqueue_for(hub: &Hub, dispatch: &ChatDispatch, recipients: &[UserId]) {
    let mut interests = interests_of(&hub.state(), recipients);
    let mut served = (0, 0);
    while !interests.is_empty() {
        let queues = next_queues(&hub.state(), &mut interests, &mut served, dispatch.last);
        queues.iter().for_each(|queue| queue.push(dispatch.envelope.clone()));
        yield_now().await;
    }
}

/// The interests of those accounts that are connected, in descending order.
fn interests_of(state: &HubState, accounts: &[UserId]) -> Vec<InterestId> {
    let mut interests: Vec<InterestId> =
        accounts.iter().filter_map(|account| state.chats.get(account).map(|(id, _)| *id)).collect();
    interests.sort_unstable_by(|a, b| b.cmp(a));
    interests
}
