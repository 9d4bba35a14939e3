//! How much is worked on at once. Whatever comes beyond is refused at once, before it costs anything: a queue would only make
//! everybody wait for answers that nobody waits for any more. Subscriptions do wait for their turn to start: clients come back all at once
//! after a restart and stay for hours, so a late start is of use and a refused one comes again. Operations that may take long wait for those of the same
//! address: one client does not keep all cores busy, nor all the room.

use super::config::EdgeConfig;
use super::response::Refusal;
use super::turns::{Turn, Turns};
use crate::deadline::within;
use crate::error::Error;
use axum::http::StatusCode;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The cost from which on an operation may take long: some ten first screens.
const LONG: usize = 5_000;

/// The room that there is.
#[derive(Clone)]
pub(super) struct Room {
    requests: Arc<Semaphore>,
    /// Subscriptions that start.
    starts: Arc<Semaphore>,
    /// Operations that may take long.
    turns: Turns,
}

/// A part of the room, until it is dropped.
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    _turn: Option<Turn>,
}

/// A part of the room, where one was taken.
pub(super) type Taken = Option<Place>;

impl Room {
    pub(super) fn new(config: &EdgeConfig) -> Self {
        let [requests, starts] = [(); 2].map(|()| Arc::new(Semaphore::new(config.max_requests)));
        Self { requests, starts, turns: Turns::default() }
    }

    /// Room to work on one more request.
    pub(super) fn work(&self) -> Result<Taken, Refusal> {
        self.place(None)
    }

    /// Room for an operation of this cost, of which it is known by now. Where it may take long, it waits without a place for those of the same address;
    /// refused after `limit`, or at once behind fifteen others.
    pub(super) async fn work_on(
        &self,
        room: Taken,
        cost: usize,
        address: Option<IpAddr>,
        limit: Duration,
    ) -> Result<Taken, Refusal> {
        let Some(address) = address.filter(|_| cost > LONG) else {
            return if room.is_some() { Ok(room) } else { self.work() };
        };
        drop(room);
        let turn = self.turns.wait(address).ok_or_else(too_many)?;
        let turn = within(limit, turn).await.map_err(|_| Refusal::from(&Error::Overloaded))?;
        self.place(Some(turn))
    }

    fn place(&self, turn: Option<Turn>) -> Result<Taken, Refusal> {
        let permit = self.requests.clone().try_acquire_owned();
        Ok(Some(Place { _permit: permit.map_err(|_| Refusal::from(&Error::Overloaded))?, _turn: turn }))
    }

    /// Room to start one more subscription, in the order of arrival; refused after `limit`. Those that wait are bounded by what a socket and
    /// an address may have.
    pub(super) async fn start(&self, limit: Duration) -> Result<Taken, Refusal> {
        match within(limit, self.starts.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(Place { _permit: permit, _turn: None })),
            _ => Err(Refusal::from(&Error::Overloaded)),
        }
    }
}

fn too_many() -> Refusal {
    let message =
        "Too many operations of your address wait that may take long. Ask for smaller pages, or for one after the other.";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).over("longOperations").retry_after(1)
}
