//! Reading of request bodies: limits their memory and their minimum rate.
//!
//! Memory is reserved when bytes arrive, not for the length that `Content-Length` or a chunk announces. The first 16 KiB of a body, more
//! than clients usually send, are free and take no lock. Beyond that a body reserves 16 KiB at a time, from a budget of all bodies and from
//! the part of it that one address may reserve ([`budget`]).

mod budget;

use super::config::HttpConfig;
use super::response::RequestError;
use crate::base::config::BODY_BYTES;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::metrics::HttpMeters;
use crate::platform::rates::Network;
use axum::body::Body;
use axum::http::StatusCode;
use budget::{BodyBudget, BudgetFull, Reservation};
use bytes::{Bytes, BytesMut};
use hyper::body::Body as _;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// The free part of a body, and the unit of reservations, in bytes.
const STEP: usize = 16 << 10;

/// Reads bodies within the limits. Cheap to clone; clones share the budget.
#[derive(Clone)]
pub(super) struct Bodies {
    budget: BodyBudget,
    min_rate: MinBodyRate,
    /// The timeout of a body.
    timeout: Duration,
    meters: HttpMeters,
}

impl Bodies {
    pub(super) fn new(config: &HttpConfig, meters: &HttpMeters) -> Self {
        Self {
            budget: BodyBudget::new(config.body_memory, config.address_body_memory, meters.clone()),
            min_rate: MinBodyRate { grace: config.body_grace, rate: config.body_rate },
            timeout: config.body_timeout,
            meters: meters.clone(),
        }
    }

    /// Reads the body of a request from `address` to its end.
    ///
    /// # Errors
    /// 413 for a body that is too long, 408 for one that is too slow, 429 when the address has reached its limit, 503 when the budget is
    /// used up or the reservation of the body is revoked, 400 for an incomplete body.
    pub(super) async fn read(&self, address: Option<IpAddr>, body: Body) -> Result<Bytes, RequestError> {
        if body.size_hint().lower() > BODY_BYTES as u64 {
            return Err(too_long());
        }
        let _reading = self.meters.body();
        let network = Network::from_address(address.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)));
        match within(self.timeout, self.collect(network, body)).await {
            Ok(read) => read.map_err(|error| self.refusal(error)),
            Err(_) => Err(self.refusal(BodyReadError::Late)),
        }
    }

    async fn collect(&self, network: Network, mut body: Body) -> Result<Bytes, BodyReadError> {
        let (began, mut collected, mut reservation) = (Instant::now(), BodyBuffer::default(), None::<Reservation>);
        loop {
            let remaining_time = self.min_rate.allowed(collected.len()).saturating_sub(began.elapsed());
            let frame = within(remaining_time, poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)));
            let frame = match &reservation {
                None => frame.await,
                Some(reservation) => tokio::select! {
                    biased;
                    () = reservation.revoked() => return Err(BodyReadError::Revoked),
                    frame = frame => frame,
                },
            };
            let Some(frame) = frame.map_err(|_| BodyReadError::Slow)? else { return Ok(collected.into_bytes()) };
            let Ok(data) = frame.map_err(|_| BodyReadError::Broken)?.into_data() else { continue };
            let length = collected.len() + data.len();
            if length > BODY_BYTES {
                return Err(BodyReadError::Long);
            }
            if length > STEP {
                let reservation = reservation.get_or_insert_with(|| self.budget.reservation(network));
                reservation.grow_to((length - STEP).next_multiple_of(STEP))?;
            }
            collected.add(data);
        }
    }

    fn refusal(&self, error: BodyReadError) -> RequestError {
        if let Some(reason) = error.reason() {
            self.meters.body_dropped(reason);
        }
        let slow = |message| RequestError::new(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT", message);
        match error {
            BodyReadError::Long => too_long(),
            BodyReadError::Broken => {
                RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", "The body could not be read. Send the request again.")
            }
            BodyReadError::Late => slow("The body did not arrive in time. Send the request again."),
            BodyReadError::Slow => slow("The body arrived too slowly. Send the request again."),
            BodyReadError::Full(BudgetFull::Address) => {
                let message = "Too many long bodies are being sent from this address at once. Send them one after the other.";
                RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("bodies").retry_after(1)
            }
            BodyReadError::Full(BudgetFull::All) | BodyReadError::Revoked => RequestError::from(&Error::Overloaded),
        }
    }
}

/// The refusal of a body whose announced or received length exceeds the maximum.
fn too_long() -> RequestError {
    RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", "A body has at most 1 MiB. Send a shorter one.")
}

/// The reason why the reading of a body fails.
#[derive(Clone, Copy)]
enum BodyReadError {
    Long,
    /// The connection broke, or the coding of the body is invalid.
    Broken,
    /// The body exceeded its timeout.
    Late,
    /// The body was slower than the minimum rate.
    Slow,
    Full(BudgetFull),
    /// The reservation of the body was revoked for another body.
    Revoked,
}

impl BodyReadError {
    /// Returns the label in the metrics. `None` for errors that are counted by their status only.
    const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Long | Self::Broken => None,
            Self::Late => Some("timeout"),
            Self::Slow => Some("too_slow"),
            Self::Full(BudgetFull::Address) => Some("address_limit"),
            Self::Full(BudgetFull::All) => Some("memory"),
            Self::Revoked => Some("evicted"),
        }
    }
}

impl From<BudgetFull> for BodyReadError {
    fn from(full: BudgetFull) -> Self {
        Self::Full(full)
    }
}

/// The minimum rate of a body.
#[derive(Clone, Copy)]
struct MinBodyRate {
    /// The time after which the rate applies.
    grace: Duration,
    /// Bytes a second, on average, after that; 0 for no minimum.
    rate: u32,
}

impl MinBodyRate {
    /// Returns the time within which more than `bytes` must have arrived.
    fn allowed(self, bytes: usize) -> Duration {
        match self.rate {
            0 => Duration::MAX,
            rate => self.grace + Duration::from_millis(bytes as u64 * 1_000 / u64::from(rate)),
        }
    }
}

/// The bytes of a body. Most bodies arrive in one piece, which is not copied. Several pieces are copied together: otherwise a piece of one
/// byte would keep the whole buffer into which it was read.
#[derive(Default)]
struct BodyBuffer {
    first: Bytes,
    all: BytesMut,
}

impl BodyBuffer {
    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    fn add(&mut self, data: Bytes) {
        if self.len() == 0 {
            self.first = data;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.all.extend_from_slice(&data);
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_extends_the_grace_period() {
        let min_rate = MinBodyRate { grace: Duration::from_secs(10), rate: 1_024 };
        assert_eq!(min_rate.allowed(0), Duration::from_secs(10));
        assert_eq!(min_rate.allowed(512), Duration::from_millis(10_500));
        assert_eq!(min_rate.allowed(20 << 10), Duration::from_secs(30));
        assert_eq!(MinBodyRate { rate: 0, ..min_rate }.allowed(0), Duration::MAX);
    }

    #[test]
    fn pieces_of_a_body_are_joined() {
        let collect = |pieces: &[&'static str]| {
            let mut collected = BodyBuffer::default();
            pieces.iter().for_each(|piece| collected.add(Bytes::from_static(piece.as_bytes())));
            (collected.len(), collected.into_bytes())
        };
        assert_eq!(collect(&[]), (0, Bytes::new()));
        assert_eq!(collect(&["", "ab", ""]), (2, Bytes::from_static(b"ab")));
        assert_eq!(collect(&["a", "", "bc", "d"]), (4, Bytes::from_static(b"abcd")));
        let whole = Bytes::from(vec![b'x'; 100]);
        let mut collected = BodyBuffer::default();
        collected.add(whole.clone());
        assert_eq!(collected.into_bytes().as_ptr(), whole.as_ptr(), "one piece is not copied");
    }
}
