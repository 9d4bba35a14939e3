//! The entries of live filters: what one account, or one address without a session, holds of them at once.

use super::places::{Kind, Place};
use crate::base::error::Error;
use crate::base::metrics::GaugeGuard;
use crate::base::rate_limits::Limit;
use crate::platform::rates::{RateLimitDecision, Subject, service};
use crate::schema::Checked;
use crate::server::State;
use crate::server::response::Refusal;
use axum::http::StatusCode;

/// The entries of a subscription's filter, given back when this is dropped.
pub(in crate::server) struct FilterEntries {
    _place: Place,
    _held: GaugeGuard,
}

impl FilterEntries {
    /// Takes the entries of an operation, if it has any, before it waits for its turn or is charged. Each subscription counts, also where
    /// its filter equals another: what one may open does not depend on what others have.
    ///
    /// # Errors
    /// `LIMIT_REACHED`. The operation is charged all the same: it was read and checked.
    pub(in crate::server) async fn take(
        state: &State,
        checked: Checked,
        subject: Option<Subject>,
    ) -> Result<Option<Self>, Refusal> {
        let (entries, max) = (checked.filter_entries, state.app.config().filter_entries);
        if entries == 0 {
            return Ok(None);
        }
        if let Some(place) = state.live.places.take_many(Kind::FilterEntry, subject, entries, max) {
            return Ok(Some(Self { _place: place, _held: state.app.metrics().filter_entries(entries) }));
        }
        state.app.metrics().filter_refused();
        if let RateLimitDecision::Denied(_, wait) = service::pay(&state.app, &state.leases, subject, checked.cost as u64).await {
            return Err(Refusal::from(&Error::rate_limited(Limit::Requests, wait)));
        }
        let message = format!(
            "The filters of your subscriptions may have {max} entries together on this server. End some, or ask for less."
        );
        Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", &message).over("filterEntries"))
    }
}
