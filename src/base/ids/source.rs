//! Generates ids of 53 bits that are ordered by time and unique across processes, even if a clock steps back.
//!
//! An id is `milliseconds since 2024-01-01 (41 bits) | worker (6 bits) | sequence (6 bits)`. It is exact in a double, so it is its own sorted-set
//! score and its own cursor. A process generates ids in spans of time that it *reserves* for a worker number ([`ReserveIds`]). A span is granted
//! only once, so uniqueness depends on the store and not on clocks or leases. The layout is that of Twitter's Snowflake; hi/lo allocation replaces
//! ZooKeeper's worker leases.

use crate::base::clock::Millis;
use crate::base::error::Error;
use std::future::Future;
use tokio::sync::Mutex;

/// The epoch: 2024-01-01T00:00:00Z.
pub const EPOCH: Millis = 1_704_067_200_000;
/// The number of worker numbers. One of them is [`IMPORT_WORKER`], so 63 processes can generate ids concurrently.
pub const WORKERS: u64 = 64;
/// The worker number for imports, whose ids are in the past. No server uses it.
pub const IMPORT_WORKER: u64 = WORKERS - 1;
/// The largest id. Ids are positive.
pub const MAX: u64 = (1 << 53) - 1;
const SEQUENCES: u64 = 64;
/// The length of a reservation: one extra round trip in this many milliseconds of use.
pub const RESERVATION: Millis = 10_000;

/// The time in an id.
pub const fn time_of(id: u64) -> Millis {
    (id >> 12) + EPOCH
}

/// The partition of an id among `count`. The low bits of ids (a sequence and a worker number) are not evenly distributed, so they are mixed.
/// Stored data depends on the result.
pub const fn partition(id: u64, count: u64) -> u64 {
    (id ^ (id >> 6) ^ (id >> 12)) % count
}

/// The id of this time, worker and sequence. Times up to [`EPOCH`] count as the millisecond after it, so that ids are positive.
pub const fn compose(time: Millis, worker: u64, sequence: u64) -> u64 {
    let since = time.saturating_sub(EPOCH);
    let since = if since == 0 { 1 } else { since };
    (since << 12) | ((worker % WORKERS) << 6) | (sequence % SEQUENCES)
}

/// A span of milliseconds, both ends included, that is reserved for one worker number in one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdReservation {
    /// The worker number.
    pub worker: u64,
    /// The first millisecond.
    pub from: Millis,
    /// The last millisecond.
    pub until: Millis,
}

/// Grants spans, each only once. `db::id_reservation` implements this in Redis.
pub trait ReserveIds: Send + Sync {
    /// Reserves a span that ends at or after `now + RESERVATION`: the continuation of `held` if no other process has reserved it.
    fn reserve(&self, now: Millis, held: Option<IdReservation>) -> impl Future<Output = Result<IdReservation, Error>> + Send;
}

/// The id generator of a process.
#[derive(Debug, Default)]
pub struct IdSource {
    state: Mutex<GeneratorState>,
}

#[derive(Debug, Default)]
struct GeneratorState {
    span: Option<IdReservation>,
    last: Millis,
    sequence: u64,
}

impl IdSource {
    /// Generates an id that is larger than all earlier ids of this process. No round trip, except to reserve a new span.
    ///
    /// # Errors
    /// Those of the reservation; then no id was generated.
    pub async fn next(&self, now: Millis, reserve: &impl ReserveIds) -> Result<u64, Error> {
        let mut state = self.state.lock().await;
        let (time, sequence) = state.step(now);
        let span = match state.span {
            Some(span) if time <= span.until => span,
            held => reserve.reserve(time, held).await?,
        };
        let (time, sequence) = if time < span.from { (span.from, 0) } else { (time, sequence) };
        *state = GeneratorState { span: Some(span), last: time, sequence };
        Ok(compose(time, span.worker, sequence))
    }
}

impl GeneratorState {
    /// The next time and sequence: never before the last one; the next millisecond if the sequence is exhausted.
    fn step(&self, now: Millis) -> (Millis, u64) {
        match (now > self.last, self.sequence + 1 < SEQUENCES) {
            (true, _) => (now, 0),
            (false, true) => (self.last, self.sequence + 1),
            (false, false) => (self.last + 1, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedWorker(u64);
    impl ReserveIds for FixedWorker {
        async fn reserve(&self, now: Millis, _: Option<IdReservation>) -> Result<IdReservation, Error> {
            Ok(IdReservation { worker: self.0, from: now, until: now + RESERVATION })
        }
    }

    #[tokio::test]
    async fn ids_grow_through_bursts_and_when_the_clock_steps_back() {
        let (ids, mut last) = (IdSource::default(), 0);
        for now in [EPOCH + 5_000, EPOCH + 5_001, EPOCH + 1_000, EPOCH + 5_002] {
            for _ in 0..200 {
                let id = ids.next(now, &FixedWorker(3)).await.expect("a span");
                assert!(id > last && id <= MAX, "{id} after {last}");
                last = id;
            }
        }
        assert!(time_of(last) >= EPOCH + 5_002);
    }

    #[test]
    fn an_id_holds_its_time_for_sixty_nine_years() {
        let late = EPOCH + (1 << 41) - 1;
        assert_eq!(time_of(compose(late, 63, 63)), late);
        assert_eq!(compose(late, 63, 63), MAX);
        assert!(compose(0, 0, 0) > 0);
    }
}
