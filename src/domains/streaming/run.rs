//! The two kinds of runs of a subscription's document: one that begins it, and those that render what it is told.

use super::follower::Follower;
use super::model::{Shown, Told};
use super::service;
use crate::base::request::Request;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// In the data of a run that begins: what it follows is handed over, and told by others.
pub struct Beginning(Mutex<Option<oneshot::Sender<Box<Follower>>>>);

impl Beginning {
    /// For the data of a request; and where the follower comes out.
    pub fn new() -> (Self, oneshot::Receiver<Box<Follower>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Mutex::new(Some(sender))), receiver)
    }

    pub(super) fn hand_over(&self, follower: Follower) {
        if let Some(sender) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Where nobody waits for it any more it ends.
            drop(sender.send(Box::new(follower)));
        }
    }
}

/// In the data of a run that renders what it is handed, whoever follows it.
pub struct Rendering(Mutex<Option<mpsc::UnboundedReceiver<Shown>>>);

/// Hands it over.
pub struct ToRender(mpsc::UnboundedSender<Shown>);

impl Rendering {
    /// For the data of a request; and what hands over. The run answers each thing once, in the order in which they come.
    pub fn new() -> (Self, ToRender) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(Mutex::new(Some(receiver))), ToRender(sender))
    }

    pub(crate) fn take(&self) -> Option<mpsc::UnboundedReceiver<Shown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What came of handing over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// An answer comes.
    Over,
    /// There is nothing that may be shown; no answer comes.
    Nothing,
    /// The run has ended.
    Nowhere,
}

impl ToRender {
    /// Hands over what is told, as whoever asks may see it.
    pub async fn hand_over(&self, told: &Told, request: &Request) -> Handed {
        match service::shown(request, told).await.map(|shown| self.0.send(shown)) {
            Some(Ok(())) => Handed::Over,
            Some(Err(_)) => Handed::Nowhere,
            None => Handed::Nothing,
        }
    }
}
