//! Deadlines that only count time in which this process was able to run.
//!
//! A deadline by wall clock alone fails on a busy machine. While a process is not scheduled, its timers expire; when it runs again, it sees them
//! before it has read the data that arrived meanwhile, and gives up although the response is there. So a limit is divided into ticks. A tick that
//! ends late shows that the process was not running, and does not count. Between the last tick and giving up, the runtime reads its sockets once
//! more. An idle or slightly loaded process gives up by the clock.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The number of ticks of a limit.
const TICKS: u32 = 8;
/// Maximum number of late ticks that do not count, so that a process that hardly ever runs gives up too.
const LATE_TICKS: u32 = 4 * TICKS;
/// The longest tick: a stall that is shorter than a tick is not detected.
const LONGEST_TICK: Duration = Duration::from_millis(500);
/// The time to read arrived data after the last tick.
const LAST_POLL: Duration = Duration::from_millis(2);

/// The deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

/// Waits for `work` for at most `limit`, not counting time in which this process did not run.
///
/// # Errors
/// [`Elapsed`] if the limit has passed; the work is dropped.
pub async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut ticks = Ticks::new(limit, Instant::now());
    let (mut work, mut timer) = (pin!(work), pin!(sleep_until(ticks.due)));
    poll_fn(|context| {
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Ok(done));
            }
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if !ticks.advance(Instant::now()) {
                return Poll::Ready(Err(Elapsed));
            }
            timer.as_mut().reset(ticks.due);
        }
    })
    .await
}

/// The remaining ticks of a limit.
struct Ticks {
    length: Duration,
    /// When the current tick ends.
    due: Instant,
    remaining: u32,
    /// Late ticks that will not be counted.
    uncounted: u32,
}

impl Ticks {
    fn new(limit: Duration, now: Instant) -> Self {
        let length = (limit / TICKS).clamp(Duration::from_millis(1), LONGEST_TICK);
        // The last poll is a tick of its own.
        let remaining = limit.div_duration_f64(length).ceil().clamp(1.0, f64::from(u32::MAX - 1)) as u32 + 1;
        Self { length, due: now + length, remaining, uncounted: LATE_TICKS }
    }

    /// Ends the current tick at `now` and starts the next; `false` if there is none.
    fn advance(&mut self, now: Instant) -> bool {
        let is_late = now.saturating_duration_since(self.due) > self.length;
        if is_late && self.uncounted > 0 {
            self.uncounted -= 1;
        } else {
            self.remaining -= 1;
        }
        self.due = now + if self.remaining == 1 { LAST_POLL } else { self.length };
        self.remaining > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(800);

    /// The time until the timeout and the number of ticks, if each tick is observed `lateness` after its end.
    fn times_out_after(limit: Duration, lateness: Duration) -> (Duration, u32) {
        let began = Instant::now();
        let (mut ticks, mut count) = (Ticks::new(limit, began), 1);
        loop {
            let now = ticks.due + lateness;
            if !ticks.advance(now) {
                return (now - began, count);
            }
            count += 1;
        }
    }

    #[test]
    fn a_responsive_process_times_out_by_the_clock() {
        for limit in [Duration::from_millis(8), LIMIT, Duration::from_secs(60)] {
            assert_eq!(times_out_after(limit, Duration::ZERO).0, limit + LAST_POLL);
        }
        assert!(times_out_after(Duration::ZERO, Duration::ZERO).0 < Duration::from_millis(10));
        assert_eq!(
            times_out_after(LIMIT, LIMIT / 80).0,
            LIMIT + LAST_POLL + LIMIT / 80 * (TICKS + 1),
            "each tick is slightly late"
        );
    }

    #[test]
    fn a_stall_does_not_count_towards_the_timeout() {
        for stalled_at in 0..TICKS {
            let began = Instant::now();
            let mut ticks = Ticks::new(LIMIT, began);
            for _ in 0..stalled_at {
                assert!(ticks.advance(ticks.due));
            }
            let (remaining, now) = (ticks.remaining, ticks.due + 100 * LIMIT);
            assert!(ticks.advance(now));
            assert_eq!((ticks.remaining, ticks.due), (remaining, now + LIMIT / TICKS));
        }
    }

    #[test]
    fn a_starved_process_times_out_too() {
        assert_eq!(times_out_after(LIMIT, LIMIT).1, TICKS + 1 + LATE_TICKS);
    }

    #[tokio::test]
    async fn within_waits_at_most_the_limit() {
        assert_eq!(within(Duration::from_millis(1), std::future::pending::<()>()).await, Err(Elapsed));
        assert_eq!(within(Duration::ZERO, std::future::ready(7)).await, Ok(7));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (got, ()) =
            tokio::join!(within(Duration::from_secs(60), receiver), async { sender.send(7).expect("the receiver exists") });
        assert_eq!(got, Ok(Ok(7)));
    }

    /// The end of the last tick, slightly late, coincides with a response that other tasks still have to forward.
    #[tokio::test]
    async fn a_response_that_is_being_forwarded_at_the_timeout_is_returned() {
        let ((sender, received), (handed_on, response)) = (tokio::sync::oneshot::channel(), tokio::sync::oneshot::channel());
        tokio::spawn(async move {
            tokio::time::sleep(LIMIT).await;
            sender.send(7)
        });
        tokio::spawn(async move { handed_on.send(received.await) });
        tokio::spawn(async {
            tokio::time::sleep(LIMIT - LIMIT / 20).await;
            // Shorter than a tick, so it is not detected.
            std::thread::sleep(LIMIT / 10);
        });
        assert_eq!(within(LIMIT, response).await, Ok(Ok(Ok(7))));
    }
}
