//! An event on its way to those whom it concerns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An event that is handed out.
#[derive(Debug)]
pub(super) struct Occasion<E, P> {
    /// What happened.
    pub(super) event: E,
    /// The place behind it.
    pub(super) behind: P,
    /// By which it is known in this process: what is made of it is made once.
    pub(super) number: u64,
}

impl<E, P> Occasion<E, P> {
    pub(super) fn new(event: E, behind: P) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Arc::new(Self { event, behind, number: LAST.fetch_add(1, Ordering::Relaxed) })
    }
}
