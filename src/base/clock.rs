//! Time as an argument: one clock a process, moved by hand in tests, so that nothing else asks the machine what time it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, UTC.
pub type Millis = u64;

/// One minute in [`Millis`].
pub const MINUTE: Millis = 60_000;
/// One day in [`Millis`].
pub const DAY: Millis = 24 * 60 * MINUTE;

/// Where the time comes from. Cheap to clone; clones of a manual clock move together.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's wall clock. It may step back; [`crate::base::ids`] copes.
    #[default]
    System,
    /// A clock that stands still until a test moves it.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that shows `now` until it is moved.
    pub fn manual(now: Millis) -> Self {
        Self::Manual(Arc::new(AtomicU64::new(now)))
    }

    /// The time now.
    pub fn now(&self) -> Millis {
        match self {
            Self::System => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as Millis),
            Self::Manual(now) => now.load(Ordering::Relaxed),
        }
    }

    /// Moves a manual clock forward (or back, when `by` is negative); the system's clock is left alone.
    pub fn advance(&self, by: i64) {
        if let Self::Manual(now) = self {
            now.fetch_add(by as u64, Ordering::Relaxed);
        }
    }
}
