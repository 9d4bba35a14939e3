//! The limit of entries in live filters, for an account or for an address without a session.

use super::slots::{LiveSlot, SlotKind};
use crate::base::error::Error;
use crate::base::metrics::GaugeGuard;
use crate::base::rate_limits::Limit;
use crate::platform::rates::{RateLimitDecision, Subject, service};
use crate::schema::CheckResult;
use crate::server::State;
use crate::server::response::RequestError;
use axum::http::StatusCode;

/// The entries of one subscription's filter. They are released when this is dropped.
pub(in crate::server) struct FilterEntries {
    _slot: LiveSlot,
    _held: GaugeGuard,
}

impl FilterEntries {
    /// Takes the filter entries of an operation before the operation waits for a permit or is charged. Each subscription counts, even where its
    /// filter equals another one: so the limit does not depend on other clients.
    ///
    /// # Errors
    /// `LIMIT_REACHED`, or `RATE_LIMITED`: the operation is charged nevertheless, because it was parsed and checked.
    pub(in crate::server) async fn take(
        state: &State,
        checked: CheckResult,
        subject: Option<Subject>,
    ) -> Result<Option<Self>, RequestError> {
        let (entries, max) = (checked.filter_entries, state.app.config().filter_entries);
        if entries == 0 {
            return Ok(None);
        }
        if let Some(slot) = state.live.slots.take_many(SlotKind::FilterEntry, subject, entries, max) {
            return Ok(Some(Self { _slot: slot, _held: state.app.metrics().filter_entries(entries) }));
        }
        state.app.metrics().filter_refused();
        if let RateLimitDecision::Denied(_, wait) =
            service::charge_request(&state.app, &state.leases, subject, checked.cost as u64).await
        {
            return Err(RequestError::from(&Error::rate_limited(Limit::Requests, wait)));
        }
        let message = format!(
            "The filters of your subscriptions can have {max} entries in total on this server. Complete a subscription, or use a smaller filter."
        );
        Err(RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", &message).with_limit("filterEntries"))
    }
}
