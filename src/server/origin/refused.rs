//! The log of refused origins: it shows operators why a page cannot reach the server. Any client can send any origin, so the log is
//! bounded.

use super::super::logging::printable;
use axum::http::HeaderValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The minimum time between two log lines about one origin.
const LOG_INTERVAL: Duration = Duration::from_mins(1);
/// The maximum number of origins that are logged within [`LOG_INTERVAL`].
const MAX_ORIGINS: usize = 16;

/// The refused origins that were logged within [`LOG_INTERVAL`]. Cheap to clone; clones share the origins.
#[derive(Clone, Default)]
pub(in crate::server) struct RefusedOrigins(Arc<Mutex<HashMap<String, Instant>>>);

impl RefusedOrigins {
    /// Logs that a page of `origin`, which is not allowed, has sent a request: once a minute for each origin, and for at most 16 origins a minute.
    pub(in crate::server) fn log(&self, origin: &HeaderValue) {
        if let Some(origin) = self.take_due(origin, Instant::now()) {
            tracing::warn!(origin, "a page of an origin that is not allowed sent a request: see --cors-origins");
        }
    }

    /// The printable text of an origin that is to be logged at `now`.
    fn take_due(&self, origin: &HeaderValue, now: Instant) -> Option<String> {
        let text = printable(&String::from_utf8_lossy(origin.as_bytes()));
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logged.retain(|_, at| now.duration_since(*at) < LOG_INTERVAL);
        let is_due = logged.len() < MAX_ORIGINS && !logged.contains_key(&text);
        is_due.then(|| {
            logged.insert(text.clone(), now);
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> HeaderValue {
        HeaderValue::from_bytes(text.as_bytes()).expect("a value")
    }

    #[test]
    fn an_origin_is_logged_once_a_minute() {
        let (refused, now) = (RefusedOrigins::default(), Instant::now());
        let take_due_at = |seconds, origin| refused.take_due(&value(origin), now + Duration::from_secs(seconds));
        assert_eq!(take_due_at(0, "https://a.example").as_deref(), Some("https://a.example"));
        assert_eq!((take_due_at(59, "https://a.example"), take_due_at(59, "https://b.example").is_some()), (None, true));
        assert!(take_due_at(60, "https://a.example").is_some());
        assert!(take_due_at(61, "https://b.example").is_none());
    }

    #[test]
    fn a_flood_of_origins_is_bounded_and_escaped() {
        let (refused, now) = (RefusedOrigins::default(), Instant::now());
        let logged = (0..1_000).filter_map(|number| refused.take_due(&value(&format!("https://{number}.example")), now));
        assert_eq!(logged.count(), MAX_ORIGINS);
        assert!(refused.0.lock().expect("it is not poisoned").len() <= MAX_ORIGINS);
        let later = now + LOG_INTERVAL;
        assert_eq!(refused.take_due(&value("https://a\u{202e}b c"), later).as_deref(), Some("https://a\u{fffd}b\u{fffd}c"));
        let long = refused.take_due(&value(&"x".repeat(1_000)), later).expect("it is due");
        assert_eq!(long.chars().count(), 65, "{long}");
    }
}
