//! The minimum rate at which a client must read a response, in bytes a second. The rate is measured over windows in which bytes wait to be
//! written.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The limit of the read rate of one connection. A window begins when a write blocks, and the last window ends when no bytes wait.
pub(super) struct ReadRateLimit {
    /// The length of a window.
    window: Duration,
    /// The rate in bytes a second. 0 means that one byte in a window suffices.
    rate: u64,
    /// The bytes that were read in the current window.
    read: u64,
    /// When the current window ends.
    end: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl ReadRateLimit {
    pub(super) const fn new(window: Duration, rate: u64) -> Self {
        Self { window, rate, read: 0, end: None, timer: None }
    }

    /// Sets the length of the windows that begin from now on.
    pub(super) const fn set_window(&mut self, window: Duration) {
        self.window = window;
    }

    /// Adds bytes that were read.
    pub(super) const fn advance(&mut self, bytes: usize) {
        self.read = self.read.saturating_add(bytes as u64);
    }

    /// Ends the window: no bytes wait any more.
    pub(super) fn end(&mut self) {
        (self.end, self.timer) = (None, None);
    }

    /// Ready once the client has read too few bytes in a window. Must be polled while bytes wait.
    pub(super) fn poll_too_slow(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let end = self.begin(Instant::now());
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
            ready!(timer.as_mut().poll(cx));
            if self.is_too_slow(Instant::now()) {
                return Poll::Ready(());
            }
            self.timer = None;
        }
    }

    /// Begins a window, unless one runs. Returns the end of the window.
    fn begin(&mut self, now: Instant) -> Instant {
        if self.end.is_none() {
            self.read = 0;
        }
        *self.end.get_or_insert(now + self.window)
    }

    /// Returns whether the current window is over and the client has read too few bytes in it. If the client has read enough, the next
    /// window begins.
    fn is_too_slow(&mut self, now: Instant) -> bool {
        let is_over = self.end.is_some_and(|end| end <= now);
        let is_enough = self.read >= self.min_bytes();
        if is_over && is_enough {
            self.end = None;
        }
        is_over && !is_enough
    }

    /// Returns the minimum number of bytes in a window.
    fn min_bytes(&self) -> u64 {
        (self.rate as f64 * self.window.as_secs_f64()).max(1.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(30);

    /// Returns after how many seconds a client that reads at this rate is too slow; `None` if the client is not too slow within an hour.
    fn too_slow_after(rate: u64, bytes_a_second: usize) -> Option<u64> {
        let (mut limit, began) = (ReadRateLimit::new(WINDOW, rate), Instant::now());
        // Bytes that the system buffers at once do not count as read.
        limit.advance(1 << 20);
        (0..3_600).find(|second| {
            let now = began + Duration::from_secs(*second);
            limit.begin(now);
            let is_too_slow = limit.is_too_slow(now);
            limit.advance(bytes_a_second);
            is_too_slow
        })
    }

    #[test]
    fn a_client_below_the_minimum_rate_is_too_slow() {
        assert_eq!(too_slow_after(1_024, 0), Some(30));
        assert_eq!(too_slow_after(1_024, 1), Some(30), "one byte a second is not enough");
        assert_eq!(too_slow_after(1_024, 1_000), Some(30));
        assert_eq!(too_slow_after(1_024, 1_100), None);
        assert_eq!((too_slow_after(0, 0), too_slow_after(0, 1)), (Some(30), None), "without a rate, any progress is enough");
    }

    #[test]
    fn each_response_has_its_own_window() {
        let (mut limit, began) = (ReadRateLimit::new(WINDOW, 1_024), Instant::now());
        limit.begin(began);
        limit.end();
        assert!(!limit.is_too_slow(began + WINDOW));
        limit.begin(began + WINDOW);
        assert!(!limit.is_too_slow(began + WINDOW * 3 / 2), "the next response has a window of its own");
        assert!(limit.is_too_slow(began + WINDOW * 2));
    }
}
