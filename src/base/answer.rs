//! The size of an answer while it is made, so that one that grows too large is stopped before it is there.

use crate::base::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a request may load for an answer, as a multiple of the answer's own bound: what is loaded need not be selected.
const LOADED: usize = 4;

/// How large an answer has become, in bytes of JSON, and how much was loaded for it.
#[derive(Debug)]
pub struct AnswerSize {
    max: usize,
    bytes: AtomicUsize,
    loaded: AtomicUsize,
    is_exceeded: AtomicBool,
}

impl AnswerSize {
    /// Of an answer with nothing in it, which may have `max` bytes.
    pub const fn new(max: usize) -> Self {
        Self { max, bytes: AtomicUsize::new(0), loaded: AtomicUsize::new(0), is_exceeded: AtomicBool::new(false) }
    }

    /// Counts bytes that are about to become part of the answer. Bytes that do not fit are not counted: what is smaller may fit still.
    ///
    /// # Errors
    /// `ANSWER_TOO_LARGE`.
    pub fn add(&self, bytes: usize) -> Result<(), Error> {
        self.count(&self.bytes, bytes, self.max)
    }

    /// Counts bytes that were loaded.
    ///
    /// # Errors
    /// `ANSWER_TOO_LARGE`.
    pub fn load(&self, bytes: usize) -> Result<(), Error> {
        self.count(&self.loaded, bytes, self.max.saturating_mul(LOADED))
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

    /// The bytes that it has so far.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// The bytes that it may still have.
    pub fn left(&self) -> usize {
        self.max.saturating_sub(self.bytes.load(Ordering::Relaxed))
    }

    /// Whether something did not fit.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// The error of an answer that has grown too large.
    pub const fn error(&self) -> Error {
        Error::AnswerTooLarge { max: self.max }
    }

    /// Begins the next answer of the same request: the next event of a subscription.
    pub fn reset(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.is_exceeded.store(false, Ordering::Relaxed);
    }

    /// What was loaded is forgotten.
    pub fn unload(&self) {
        self.loaded.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_not_counted_and_what_is_smaller_may() {
        let size = AnswerSize::new(10);
        assert!(size.add(8).is_ok() && !size.is_exceeded());
        assert!(matches!(size.add(3), Err(Error::AnswerTooLarge { max: 10 })) && size.is_exceeded());
        assert!(size.add(2).is_ok() && size.add(usize::MAX).is_err());
        assert_eq!(size.left(), 0);
        size.reset();
        assert_eq!((size.left(), size.is_exceeded()), (10, false));
        assert!(size.load(40).is_ok() && size.load(1).is_err());
        size.unload();
        assert!(size.load(1).is_ok());
    }
}
