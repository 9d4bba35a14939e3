//! How much is worked on at once. Whatever comes beyond is refused at once, before it costs anything: a queue would only make
//! everybody wait for answers that nobody waits for any more. Subscriptions do wait for their turn to start: clients come back all at once
//! after a restart and stay for hours, so a late start is of use and a refused one comes again.

use super::config::EdgeConfig;
use super::response::Refusal;
use crate::config::BODY_BYTES;
use crate::deadline::within;
use crate::error::Error;
use axum::http::{HeaderMap, StatusCode, header};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies longer than this are counted, in bytes: shorter ones are what clients send.
const SMALL_BODY: usize = 16 << 10;
/// What the long bodies that are being read may take together, in KiB.
const BODIES_KIB: usize = 64 << 10;

/// The room that there is.
#[derive(Clone)]
pub(super) struct Room {
    requests: Arc<Semaphore>,
    /// Subscriptions that start.
    starts: Arc<Semaphore>,
    bodies: Arc<Semaphore>,
}

/// A part of the room, until it is dropped.
pub(super) type Taken = Option<OwnedSemaphorePermit>;

impl Room {
    pub(super) fn new(config: &EdgeConfig) -> Self {
        let [requests, starts] = [(); 2].map(|()| Arc::new(Semaphore::new(config.max_requests)));
        Self { requests, starts, bodies: Arc::new(Semaphore::new(BODIES_KIB)) }
    }

    /// Room to work on one more request.
    pub(super) fn work(&self) -> Result<Taken, Refusal> {
        take(&self.requests, 1)
    }

    /// Room to start one more subscription, in the order of arrival; refused after `limit`. Those that wait are bounded by what a socket and
    /// an address may have.
    pub(super) async fn start(&self, limit: Duration) -> Result<Taken, Refusal> {
        match within(limit, self.starts.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(Refusal::from(&Error::Overloaded)),
        }
    }

    /// Room to read the body of these headers: none is needed for a short one; one of unknown length may be as long as any. One that
    /// says that it is too long is believed.
    pub(super) fn body(&self, headers: &HeaderMap) -> Result<Taken, Refusal> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        match length.unwrap_or(BODY_BYTES) {
            ..=SMALL_BODY => Ok(None),
            bytes if bytes <= BODY_BYTES => take(&self.bodies, bytes.div_ceil(1 << 10)),
            _ => Err(too_long()),
        }
    }
}

/// A body that is longer than a body may be, whether it says so or turns out to be.
pub(super) fn too_long() -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", "A body is at most 1 MiB.")
}

fn take(room: &Arc<Semaphore>, much: usize) -> Result<Taken, Refusal> {
    let much = u32::try_from(much).unwrap_or(u32::MAX);
    Ok(Some(room.clone().try_acquire_many_owned(much).map_err(|_| Refusal::from(&Error::Overloaded))?))
}
