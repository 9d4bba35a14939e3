//! How much is worked on at once. Whatever comes beyond is refused at once, before it costs anything: a queue would only make
//! everybody wait for answers that nobody waits for any more. Subscriptions do wait for their turn to start: clients come back all at once
//! after a restart and stay for hours, so a late start is of use and a refused one comes again.

use super::config::EdgeConfig;
use super::response::Refusal;
use crate::deadline::within;
use crate::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The room that there is.
#[derive(Clone)]
pub(super) struct Room {
    requests: Arc<Semaphore>,
    /// Subscriptions that start.
    starts: Arc<Semaphore>,
}

/// A part of the room, until it is dropped.
pub(super) type Taken = Option<OwnedSemaphorePermit>;

impl Room {
    pub(super) fn new(config: &EdgeConfig) -> Self {
        let [requests, starts] = [(); 2].map(|()| Arc::new(Semaphore::new(config.max_requests)));
        Self { requests, starts }
    }

    /// Room to work on one more request.
    pub(super) fn work(&self) -> Result<Taken, Refusal> {
        let permit = self.requests.clone().try_acquire_owned();
        Ok(Some(permit.map_err(|_| Refusal::from(&Error::Overloaded))?))
    }

    /// Room to start one more subscription, in the order of arrival; refused after `limit`. Those that wait are bounded by what a socket and
    /// an address may have.
    pub(super) async fn start(&self, limit: Duration) -> Result<Taken, Refusal> {
        match within(limit, self.starts.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(Refusal::from(&Error::Overloaded)),
        }
    }
}
