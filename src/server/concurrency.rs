//! Limits of concurrent work. A request beyond the limit is refused at once, before any work: in a queue it would only wait until its client
//! gives up. Subscriptions wait for a permit to start instead: all clients reconnect at once after a restart, and a subscription lasts for hours.
//! Long operations of one address run one after the other, so that one client occupies neither all cores nor all permits.

use super::config::HttpConfig;
use super::queues::{QueuePermit, Queues};
use super::response::RequestError;
use crate::base::deadline::within;
use crate::base::error::Error;
use axum::http::StatusCode;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// An operation with a higher cost is long. The first pages of about ten home timelines cost as much.
const LONG_OPERATION_COST: usize = 5_000;

/// The limits of concurrent work. Cheap to clone; clones share the permits.
#[derive(Clone)]
pub(super) struct ConcurrencyLimit {
    requests: Arc<Semaphore>,
    /// Permits to start a subscription.
    subscription_starts: Arc<Semaphore>,
    long_operations: Queues,
}

/// Permission to work on a request, until it is dropped.
pub(super) struct WorkPermit {
    _permit: OwnedSemaphorePermit,
    _queue: Option<QueuePermit>,
}

impl ConcurrencyLimit {
    pub(super) fn new(config: &HttpConfig) -> Self {
        let [requests, subscription_starts] = [(); 2].map(|()| Arc::new(Semaphore::new(config.max_requests)));
        Self { requests, subscription_starts, long_operations: Queues::default() }
    }

    /// Acquires a permit for one more request.
    pub(super) fn acquire(&self) -> Result<Option<WorkPermit>, RequestError> {
        self.try_acquire(None)
    }

    /// Acquires a permit for an operation whose cost is known. A long operation waits in the queue of its address, without a permit. It is
    /// refused after `limit`, and at once when the queue is full.
    pub(super) async fn acquire_for_cost(
        &self,
        permit: Option<WorkPermit>,
        cost: usize,
        address: Option<IpAddr>,
        limit: Duration,
    ) -> Result<Option<WorkPermit>, RequestError> {
        let Some(address) = address.filter(|_| cost > LONG_OPERATION_COST) else {
            return if permit.is_some() { Ok(permit) } else { self.acquire() };
        };
        drop(permit);
        let queued = self.long_operations.enqueue(address).ok_or_else(queue_is_full)?;
        let queue = within(limit, queued).await.map_err(|_| RequestError::from(&Error::Overloaded))?;
        self.try_acquire(Some(queue))
    }

    fn try_acquire(&self, queue: Option<QueuePermit>) -> Result<Option<WorkPermit>, RequestError> {
        let permit = self.requests.clone().try_acquire_owned();
        Ok(Some(WorkPermit { _permit: permit.map_err(|_| RequestError::from(&Error::Overloaded))?, _queue: queue }))
    }

    /// Acquires a permit to start one more subscription, in the order of arrival; fails with `OVERLOADED` after `limit`. The limits of
    /// connections, and of operations on a socket or a reserved event stream, bound the number of waiting subscriptions.
    pub(super) async fn acquire_start(&self, limit: Duration) -> Result<Option<WorkPermit>, RequestError> {
        match within(limit, self.subscription_starts.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(WorkPermit { _permit: permit, _queue: None })),
            _ => Err(RequestError::from(&Error::Overloaded)),
        }
    }
}

fn queue_is_full() -> RequestError {
    let message = "Too many expensive operations from your address are queued. Request smaller pages, or send the operations one at a time.";
    RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("longOperations").retry_after(1)
}
