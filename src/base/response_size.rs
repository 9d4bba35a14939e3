//! Measures a response while it is produced, so that a response that is too large is stopped early.

use crate::base::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The bound of loaded bytes, as a multiple of the bound of the response: the response need not contain all loaded data.
const MAX_LOADED_FACTOR: usize = 4;

/// The size of a response in bytes of JSON, and of the data loaded for it.
#[derive(Debug)]
pub struct ResponseSize {
    max: usize,
    bytes: AtomicUsize,
    loaded: AtomicUsize,
    is_exceeded: AtomicBool,
}

impl ResponseSize {
    /// An empty response of at most `max` bytes.
    pub const fn new(max: usize) -> Self {
        Self { max, bytes: AtomicUsize::new(0), loaded: AtomicUsize::new(0), is_exceeded: AtomicBool::new(false) }
    }

    /// Adds bytes to the response. Bytes that do not fit are not counted, so a smaller value may still fit.
    ///
    /// # Errors
    /// `RESPONSE_TOO_LARGE`.
    pub fn add(&self, bytes: usize) -> Result<(), Error> {
        self.count(&self.bytes, bytes, self.max)
    }

    /// Adds loaded bytes.
    ///
    /// # Errors
    /// `RESPONSE_TOO_LARGE`.
    pub fn add_loaded(&self, bytes: usize) -> Result<(), Error> {
        self.count(&self.loaded, bytes, self.max.saturating_mul(MAX_LOADED_FACTOR))
    }

    fn count(&self, counted: &AtomicUsize, bytes: usize, max: usize) -> Result<(), Error> {
        let fits = |counted: usize| counted.checked_add(bytes).filter(|sum| *sum <= max);
        match counted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits) {
            Ok(_) => Ok(()),
            Err(_) => {
                self.is_exceeded.store(true, Ordering::Relaxed);
                Err(self.error())
            }
        }
    }

    /// The current size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The bytes that still fit.
    pub fn remaining(&self) -> usize {
        self.max.saturating_sub(self.bytes.load(Ordering::Relaxed))
    }

    /// Whether something did not fit.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// The error for a response that is too large.
    pub const fn error(&self) -> Error {
        Error::ResponseTooLarge { max: self.max }
    }

    /// Starts the next response of the same request: the next event of a subscription.
    pub fn reset(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.is_exceeded.store(false, Ordering::Relaxed);
    }

    /// Resets the loaded bytes.
    pub fn reset_loaded(&self) {
        self.loaded.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_value_is_not_counted_so_a_smaller_one_may_fit() {
        let size = ResponseSize::new(10);
        assert!(size.add(8).is_ok() && !size.is_exceeded());
        assert!(matches!(size.add(3), Err(Error::ResponseTooLarge { max: 10 })) && size.is_exceeded());
        assert!(size.add(2).is_ok() && size.add(usize::MAX).is_err());
        assert_eq!(size.remaining(), 0);
        size.reset();
        assert_eq!((size.remaining(), size.is_exceeded()), (10, false));
        assert!(size.add_loaded(40).is_ok() && size.add_loaded(1).is_err());
        size.reset_loaded();
        assert!(size.add_loaded(1).is_ok());
    }
}
