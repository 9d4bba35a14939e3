//! The rate limit of a socket's messages: a token bucket in memory.

use tokio::time::Instant;

/// The token bucket of a socket.
pub(super) struct MessageBucket {
    a_second: f64,
    most: f64,
    left: f64,
    at: Instant,
}

impl MessageBucket {
    /// Creates a full bucket: `most` messages at once, and `a_second` on average.
    pub(super) fn new(a_second: u32, most: u32, now: Instant) -> Self {
        let most = f64::from(most);
        Self { a_second: a_second.into(), most, left: most, at: now }
    }

    /// Takes a message from the bucket. Returns whether there was one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let refilled = now.saturating_duration_since(self.at).as_secs_f64() * self.a_second;
        self.left = (self.left + refilled).min(self.most);
        self.at = now;
        let has_one = self.left >= 1.0;
        self.left -= f64::from(u8::from(has_one));
        has_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn messages_are_limited_by_burst_and_rate() {
        let start = Instant::now();
        let mut budget = MessageBucket::new(20, 40, start);
        let mut taken = |millis: u64| (0..100).filter(|_| budget.take(start + Duration::from_millis(millis))).count();
        assert_eq!((taken(0), taken(50), taken(1_050), taken(100_000)), (40, 1, 20, 40));
    }
}
