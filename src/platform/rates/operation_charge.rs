//! The charge of an operation: its estimate, charged before it runs, and its work beyond the estimate.

use super::lease::Leases;
use super::model::{ChargeResult, FREE_UNITS, Subject, TOKENS_PER_EXTRA_UNIT, units};
use crate::app::App;
use crate::base::rate_limits::Quota;
use crate::db::Meter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The charge of an operation whose estimate is already charged. Work beyond the estimate is charged after the operation, after each event of a
/// subscription, and at the latest on drop: a client that disconnects is charged for the work done. No round trip.
pub struct OperationCharge {
    app: App,
    meter: Arc<Meter>,
    estimate: u64,
    /// Tokens charged for work beyond the estimate.
    excess: AtomicU64,
    payer: Option<Payer>,
    /// Whether the estimate was charged, so that the allowance is known.
    is_paid: bool,
}

/// The subject that is charged. Its lease is looked up each time, since it may have been evicted and replaced.
pub(super) struct Payer {
    pub(super) leases: Leases,
    pub(super) subject: Subject,
    pub(super) quota: Quota,
}

impl OperationCharge {
    pub(super) fn new(app: &App, estimate: u64, payer: Option<Payer>, is_paid: bool) -> Self {
        Self { app: app.clone(), meter: Arc::default(), estimate, excess: AtomicU64::new(0), payer, is_paid }
    }

    /// The meter of the operation's work.
    pub fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// Charges the work beyond the estimate since the last call. Less work than estimated is not refunded: the estimate covers the fields of the
    /// response, which cost time too.
    pub fn charge_excess(&self) -> ChargeResult {
        let (worked, allowance) = (self.charge(), self.allowance());
        let excess = if self.payer.is_some() { self.excess.load(Ordering::Relaxed) } else { 0 };
        ChargeResult { worked, charged: self.estimate + excess, allowance }
    }

    /// Charges the work so far beyond the estimate, or beyond [`FREE_UNITS`] if that is more. Returns the units of work so far.
    pub fn charge(&self) -> u64 {
        let worked = units(self.meter.read());
        let excess = TOKENS_PER_EXTRA_UNIT * worked.saturating_sub(self.estimate.max(FREE_UNITS));
        let previous = self.excess.fetch_max(excess, Ordering::Relaxed);
        if let Some(payer) = self.payer.as_ref().filter(|_| excess > previous) {
            let debt = payer.leases.get(payer.subject).charge_afterwards(excess - previous, payer.quota, self.app.now());
            self.app.metrics().count_excess(excess - previous, debt);
        }
        worked
    }

    fn allowance(&self) -> Option<super::Allowance> {
        let payer = self.payer.as_ref().filter(|_| self.is_paid)?;
        payer.leases.get(payer.subject).allowance(payer.quota, self.app.now())
    }
}

impl Drop for OperationCharge {
    fn drop(&mut self) {
        self.charge();
    }
}
