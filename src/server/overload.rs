//! How much is worked on at once. Whatever comes beyond is refused at once, before it costs anything: a queue would only make
//! everybody wait for answers that nobody waits for any more. Subscriptions do wait for their turn to start: clients come back all at once
//! after a restart and stay for hours, so a late start is of use and a refused one comes again. Long operations wait for those of the same
//! address: one client keeps neither all cores busy nor all permits.

use super::config::EdgeConfig;
use super::queues::{QueuePermit, Queues};
use super::response::Refusal;
use crate::base::deadline::within;
use crate::base::error::Error;
use axum::http::StatusCode;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// An operation of more than this cost is long: some ten first screens.
const LONG: usize = 5_000;

/// The room that there is.
#[derive(Clone)]
pub(super) struct ConcurrencyLimit {
    requests: Arc<Semaphore>,
    /// Subscriptions that start.
    starts: Arc<Semaphore>,
    long_operations: Queues,
}

/// Permission to work on a request, until it is dropped.
pub(super) struct WorkPermit {
    _permit: OwnedSemaphorePermit,
    _queue: Option<QueuePermit>,
}

/// A permit, where one was acquired.
pub(super) type Taken = Option<WorkPermit>;

impl ConcurrencyLimit {
    pub(super) fn new(config: &EdgeConfig) -> Self {
        let [requests, starts] = [(); 2].map(|()| Arc::new(Semaphore::new(config.max_requests)));
        Self { requests, starts, long_operations: Queues::default() }
    }

    /// Room to work on one more request.
    pub(super) fn work(&self) -> Result<Taken, Refusal> {
        self.acquire(None)
    }

    /// Room for an operation once its cost is known. A long one waits in the queue of its address, and holds no permit meanwhile; refused after `limit`,
    /// and at once when the queue is full.
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
        let queued = self.long_operations.enqueue(address).ok_or_else(queue_is_full)?;
        let queue = within(limit, queued).await.map_err(|_| Refusal::from(&Error::Overloaded))?;
        self.acquire(Some(queue))
    }

    fn acquire(&self, queue: Option<QueuePermit>) -> Result<Taken, Refusal> {
        let permit = self.requests.clone().try_acquire_owned();
        Ok(Some(WorkPermit { _permit: permit.map_err(|_| Refusal::from(&Error::Overloaded))?, _queue: queue }))
    }

    /// Room to start one more subscription, in the order of arrival; refused after `limit`. Those that wait are bounded by what a socket and
    /// an address may have.
    pub(super) async fn start(&self, limit: Duration) -> Result<Taken, Refusal> {
        match within(limit, self.starts.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(WorkPermit { _permit: permit, _queue: None })),
            _ => Err(Refusal::from(&Error::Overloaded)),
        }
    }
}

fn queue_is_full() -> Refusal {
    let message =
        "Too many operations of your address wait that may take long. Ask for smaller pages, or for one after the other.";
    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).over("longOperations").retry_after(1)
}
