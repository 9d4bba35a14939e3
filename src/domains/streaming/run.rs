//! The two kinds of runs of a subscription's document: one sets the subscription up, the other renders its events.

use super::model::{HydratedEvent, OutgoingEvent};
use super::service;
use super::subscription_stream::SubscriptionStream;
use crate::base::request::Request;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Request data of a setup run: takes the stream that the resolver opens.
pub struct SetupRun(Mutex<Option<oneshot::Sender<Box<SubscriptionStream>>>>);

impl SetupRun {
    /// Creates the request data, and the receiver of the stream.
    pub fn new() -> (Self, oneshot::Receiver<Box<SubscriptionStream>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Mutex::new(Some(sender))), receiver)
    }

    pub(super) fn hand_over(&self, stream: SubscriptionStream) {
        if let Some(sender) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // If nobody waits for the stream, it is dropped.
            drop(sender.send(Box::new(stream)));
        }
    }
}

/// Request data of a render run: the events to render.
pub struct RenderRun(Mutex<Option<mpsc::UnboundedReceiver<HydratedEvent>>>);

/// Sends events to a render run.
pub struct RenderSender(mpsc::UnboundedSender<HydratedEvent>);

impl RenderRun {
    /// Creates the request data, and the sender of events. The run responds to each event once, in order.
    pub fn new() -> (Self, RenderSender) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(Mutex::new(Some(receiver))), RenderSender(sender))
    }

    pub(crate) fn take(&self) -> Option<mpsc::UnboundedReceiver<HydratedEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Result of sending an event to a render run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderResult {
    /// A response follows.
    Queued,
    /// The viewer may not see the event; no response follows.
    Hidden,
    /// The run has ended.
    Closed,
}

impl RenderSender {
    /// Sends an event to the run, as the viewer of `request` may see it.
    pub async fn hand_over(&self, event: &OutgoingEvent, request: &Request) -> RenderResult {
        match service::hydrate(request, event).await.map(|shown| self.0.send(shown)) {
            Some(Ok(())) => RenderResult::Queued,
            Some(Err(_)) => RenderResult::Closed,
            None => RenderResult::Hidden,
        }
    }
}
