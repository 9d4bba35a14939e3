//! What asking for ads and clicking costs an address, paid out of what the process has leased: no round trip for most.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::platform::rates::{Leases, RateLimitDecision, Subject, service as rates};
use std::net::IpAddr;

/// What this process has in hand for ads.
#[derive(Clone, Default)]
struct AdLeases(Leases);

/// Charges an address for a decision or a click; one that is not known pays nothing.
pub(in crate::domains::ads) async fn charge(app: &App, address: Option<IpAddr>) -> Result<(), Error> {
    let AdLeases(leases) = app.extension::<AdLeases>();
    match rates::pay_for(app, &leases, Limit::Ads, address.map(Subject::address), 1).await {
        RateLimitDecision::Denied(_, wait) => Err(Error::rate_limited(Limit::Ads, wait)),
        RateLimitDecision::NotCharged | RateLimitDecision::Allowed(_) => Ok(()),
    }
}

pub(in crate::domains::ads) async fn charge_change(app: &App, owner: UserId) -> Result<(), Error> {
    rates::charge(app, &[(Limit::Campaigns, Subject::Account(owner))]).await
}
