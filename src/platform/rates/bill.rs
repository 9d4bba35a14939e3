//! What an operation costs in the end: its estimate, paid before it runs, and the work that it did beyond it.

use super::lease::Leases;
use super::model::{BEYOND_ESTIMATE, FREE_UNITS, Settlement, Subject, units};
use crate::app::App;
use crate::base::quota::Quota;
use crate::db::Meter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bill of an operation whose estimate was paid. It is settled when the operation has ended, after each event of a subscription, and at the
/// latest when it is dropped: who goes away before the answer pays for the work that was done. Settling asks nothing of Redis.
pub struct Bill {
    app: App,
    meter: Arc<Meter>,
    estimate: u64,
    /// Tokens for work beyond the estimate that were charged.
    settled: AtomicU64,
    payer: Option<Payer>,
    /// Whether the estimate was paid, so that it is known what is left.
    is_paid: bool,
}

/// Who pays. The lease is looked up each time: one that was evicted is not the one that the next request asks.
pub(super) struct Payer {
    pub(super) leases: Leases,
    pub(super) subject: Subject,
    pub(super) quota: Quota,
}

impl Bill {
    pub(super) fn new(app: &App, estimate: u64, payer: Option<Payer>, is_paid: bool) -> Self {
        Self { app: app.clone(), meter: Arc::default(), estimate, settled: AtomicU64::new(0), payer, is_paid }
    }

    /// What counts the operation's work.
    pub fn meter(&self) -> Arc<Meter> {
        self.meter.clone()
    }

    /// Charges the work beyond the estimate that was not charged yet. Less work than was estimated gives nothing back: the estimate counts the
    /// fields of the answer, which cost time too.
    pub fn settle(&self) -> Settlement {
        let (worked, allowance) = (self.charge(), self.allowance());
        let beyond = if self.payer.is_some() { self.settled.load(Ordering::Relaxed) } else { 0 };
        Settlement { worked, charged: self.estimate + beyond, allowance }
    }

    /// The same, without looking at what is left. Gives the units of work so far.
    pub fn charge(&self) -> u64 {
        let worked = units(self.meter.read());
        let beyond = BEYOND_ESTIMATE * worked.saturating_sub(self.estimate.max(FREE_UNITS));
        let before = self.settled.fetch_max(beyond, Ordering::Relaxed);
        if let Some(payer) = self.payer.as_ref().filter(|_| beyond > before) {
            let debt = payer.leases.of(payer.subject).owe(beyond - before, payer.quota, self.app.now());
            self.app.metrics().settled(beyond - before, debt);
        }
        worked
    }

    fn allowance(&self) -> Option<super::Allowance> {
        let payer = self.payer.as_ref().filter(|_| self.is_paid)?;
        payer.leases.of(payer.subject).allowance(payer.quota, self.app.now())
    }
}

impl Drop for Bill {
    fn drop(&mut self) {
        self.charge();
    }
}
