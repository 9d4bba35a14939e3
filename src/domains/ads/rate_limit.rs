//! Rate limits: of ad requests and clicks by address, and of changes by account. Most charges of an address use the quota that the process has leased,
//! and take no round trip.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::platform::rates::{Leases, RateLimitDecision, Subject, service as rates};
use std::net::IpAddr;

/// The quota for ads that this process has leased.
#[derive(Clone, Default)]
struct AdLeases(Leases);

/// Charges an address for an ad decision or a click. An unknown address is not charged.
pub(in crate::domains::ads) async fn charge(app: &App, address: Option<IpAddr>) -> Result<(), Error> {
    let AdLeases(leases) = app.extension::<AdLeases>();
    match rates::charge_leased(app, &leases, Limit::Ads, address.map(Subject::address), 1).await {
        RateLimitDecision::Denied(_, wait) => Err(Error::rate_limited(Limit::Ads, wait)),
        RateLimitDecision::NotCharged | RateLimitDecision::Allowed(_) => Ok(()),
    }
}

/// Charges an account for a change of a campaign, an ad or a website.
pub(in crate::domains::ads) async fn charge_change(app: &App, owner: UserId) -> Result<(), Error> {
    rates::charge(app, &[(Limit::Campaigns, Subject::Account(owner))]).await
}
