//! The clock of a process. Use cases read the time only here, so that tests can use a manual clock. Log lines, backup manifests and the `Date` header
//! of refused connections have the system time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the Unix epoch, UTC.
pub type Millis = u64;

/// One minute in [`Millis`].
pub const MINUTE: Millis = 60_000;
/// One day in [`Millis`].
pub const DAY: Millis = 24 * 60 * MINUTE;

/// A source of time. Cheap to clone; clones of a manual clock share their time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The system's wall clock. It may step back; [`crate::base::ids`] handles that.
    #[default]
    System,
    /// A clock that only tests advance.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// A manual clock at `now`.
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

    /// Advances a manual clock by a number of ms, which may be negative; does nothing for the system clock.
    pub fn advance(&self, millis: i64) {
        if let Self::Manual(now) = self {
            now.fetch_add(millis as u64, Ordering::Relaxed);
        }
    }
}
