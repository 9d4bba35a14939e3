//! The rate limit of a socket's messages: a token bucket in memory.

use tokio::time::Instant;

/// The token bucket of a socket.
pub(super) struct MessageBucket {
    rate: f64,
    burst: f64,
    tokens: f64,
    refilled_at: Instant,
}

impl MessageBucket {
    /// Creates a full bucket: `burst` messages at once, and `rate` messages a second on average.
    pub(super) fn new(rate: u32, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst);
        Self { rate: rate.into(), burst, tokens: burst, refilled_at: now }
    }

    /// Takes a message from the bucket. Returns whether there was one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let refilled = now.saturating_duration_since(self.refilled_at).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + refilled).min(self.burst);
        self.refilled_at = now;
        let has_one = self.tokens >= 1.0;
        self.tokens -= f64::from(u8::from(has_one));
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
        let mut bucket = MessageBucket::new(20, 40, start);
        let mut taken = |millis: u64| (0..100).filter(|_| bucket.take(start + Duration::from_millis(millis))).count();
        assert_eq!((taken(0), taken(50), taken(1_050), taken(100_000)), (40, 1, 20, 40));
    }
}
