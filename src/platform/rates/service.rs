//! The use cases of rate limits: charge, refund, and charge requests by their cost.

use super::lease::{Lease, Leases};
use super::model::{BucketReply, Charge, RateLimitDecision, Subject};
use super::operation_charge::{OperationCharge, Payer};
use super::store::{self, BucketRequest};
use crate::app::App;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::rate_limits::{ChargedTo, Limit, Quota};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The number of networks of an IPv6 /48 that may empty their buckets at the same time. Few customers have all 65,536; customers of a mobile operator have
/// one network each, and most of them have no failed log-in.
const NETWORKS_PER_SITE: u64 = 256;

/// Takes a token from each bucket, or from none. Does nothing without limits. One round trip; one more to refund tokens after a refusal.
///
/// A charge to an IPv6 address is also charged to its /48, whose bucket is 256 times as large.
///
/// A bucket whose node did not reply in time may have lost a token; nothing is refunded there, since it is unknown whether a token was taken.
///
/// # Errors
/// `RATE_LIMITED`, with the longest wait of the empty buckets (of equals, the first); `STORAGE_UNAVAILABLE` if none was empty and one could not be
/// queried.
pub async fn charge(app: &App, charges: &[Charge]) -> Result<(), Error> {
    let Some(requests) = requests(app, charges) else { return Ok(()) };
    let (mut taken, mut refused, mut failed) = (Vec::new(), Vec::new(), None);
    for (request, reply) in requests.iter().zip(store::take_each(app.db(), app.now(), &requests).await) {
        match reply {
            Ok(BucketReply { taken: 0, wait, .. }) => refused.push((request.limit, wait)),
            Ok(_) => taken.push(*request),
            Err(error) => failed = Some(error),
        }
    }
    let error = match refused.into_iter().rev().max_by_key(|(_, wait)| *wait) {
        Some((limit, wait)) => Error::rate_limited(limit, wait),
        None => match failed {
            Some(error) => error,
            None => return Ok(()),
        },
    };
    refund_buckets(app, taken).await;
    Err(error)
}

/// Refunds the tokens that [`charge`] took. One round trip. If that fails for a bucket, the token is refilled in time. There is no retry: a
/// refund without a reply may have happened, and a second one might return a token that was never taken.
pub async fn refund(app: &App, charges: &[Charge]) {
    if let Some(requests) = requests(app, charges) {
        refund_buckets(app, requests).await;
    }
}

async fn refund_buckets(app: &App, mut taken: Vec<BucketRequest>) {
    taken.iter_mut().for_each(|request| (request.min_tokens, request.max_tokens) = (-1, -1));
    for (request, reply) in taken.iter().zip(store::take_each(app.db(), app.now(), &taken).await) {
        if let Err(error) = reply {
            tracing::debug!(%error, limit = request.limit.name(), "a token was not refunded");
        }
    }
}

/// A request for one token of each bucket.
fn requests(app: &App, charges: &[Charge]) -> Option<Vec<BucketRequest>> {
    let rates = app.config().rates.as_ref().filter(|_| !charges.is_empty())?;
    let request = |limit: Limit, subject, factor| {
        let quota = rates.quota(limit).times(factor);
        BucketRequest { limit, subject, quota, min_tokens: 1, max_tokens: 1, debt: None }
    };
    let mut requests = Vec::with_capacity(charges.len());
    for (limit, subject) in charges {
        requests.push(request(*limit, *subject, 1));
        if let Subject::Address(network) = subject {
            requests.extend(network.to_site().map(|site| request(*limit, Subject::Site(site), NETWORKS_PER_SITE)));
        }
    }
    Some(requests)
}

/// Takes as many tokens as one bucket has, at most the end of `range`; none if the bucket has fewer than the start of `range`. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn take(app: &App, (limit, subject): Charge, quota: Quota, range: RangeInclusive<u64>) -> Result<BucketReply, Error> {
    take_with_debt(app, (limit, subject), quota, range, None).await
}

async fn take_with_debt(
    app: &App,
    (limit, subject): Charge,
    quota: Quota,
    range: RangeInclusive<u64>,
    debt: Option<u64>,
) -> Result<BucketReply, Error> {
    let [min_tokens, max_tokens] = [range.start(), range.end()].map(|tokens| (*tokens).min(quota.tokens()) as i64);
    let request = BucketRequest { limit, subject, quota, min_tokens, max_tokens, debt };
    store::take(app.db(), app.now(), &request).await
}

/// Charges a request out of the lease; a cost above a full bucket takes a full bucket. No round trip for most requests, one per hundredth of a
/// bucket. If Redis is unavailable, the request is not charged.
pub async fn charge_request(app: &App, leases: &Leases, subject: Option<Subject>, cost: u64) -> RateLimitDecision {
    let limit = subject.map_or(Limit::Requests, Subject::limit_of_requests);
    charge_leased(app, leases, limit, subject, cost).await
}

/// Charges the estimate of an operation as [`charge_request`] does, and returns the charge for its work beyond the estimate.
pub async fn charge_operation(
    app: &App,
    leases: &Leases,
    subject: Option<Subject>,
    cost: usize,
) -> (RateLimitDecision, OperationCharge) {
    let decision = charge_request(app, leases, subject, cost as u64).await;
    let payer = match (decision, subject, &app.config().rates) {
        (RateLimitDecision::Denied(..), _, _) => None,
        // Also if the estimate was not charged because Redis was unavailable: a subscription lasts for hours.
        (_, Some(subject), Some(rates)) => {
            Some(Payer { leases: leases.clone(), subject, quota: rates.quota(subject.limit_of_requests()) })
        }
        _ => None,
    };
    (decision, OperationCharge::new(app, cost as u64, payer, matches!(decision, RateLimitDecision::Allowed(_))))
}

/// Charges a limit out of the lease, as [`charge_request`] does: for limits whose charges are too frequent for a round trip each. A limit other than those of
/// requests needs its own `leases`.
pub async fn charge_leased(app: &App, leases: &Leases, limit: Limit, subject: Option<Subject>, cost: u64) -> RateLimitDecision {
    let (Some(rates), Some(subject)) = (&app.config().rates, subject) else { return RateLimitDecision::NotCharged };
    let quota = rates.quota(limit);
    let cost = cost.clamp(1, quota.tokens());
    let lease = leases.get(subject);
    match lease.spend(cost, quota, app.now()) {
        Some(decision) => decision,
        None => Box::pin(renew(app, &lease, (limit, subject), quota, cost)).await,
    }
}

/// Renews a lease, one request of a subject at a time, so that the first one leases for all that wait. Waiting has no deadline of its own, else
/// many concurrent requests would be free. A renewal completes even if its request is cancelled: its debt would be lost or counted twice.
async fn renew(app: &App, lease: &Arc<Lease>, charge: Charge, quota: Quota, cost: u64) -> RateLimitDecision {
    let failures = lease.failures();
    let permit = lease.renewing.clone().lock_owned().await;
    if lease.failures() != failures {
        return RateLimitDecision::NotCharged; // A renewal failed meanwhile: concurrent requests wait for a frozen Redis once.
    }
    let now = app.now();
    if let Some(decision) = lease.spend(cost, quota, now) {
        return decision;
    }
    let (own, lease) = (app.clone(), lease.clone());
    let renewal = async move {
        let _permit = permit;
        let request = lease.begin_renewal(cost, quota, now);
        let taking = take_with_debt(&own, charge, quota, request.min_tokens..=request.max_tokens, Some(request.debt));
        let timeout = own.db().timing().charge;
        match within(timeout, taking).await.unwrap_or(Err(Error::StorageUnavailable)) {
            Ok(reply) => lease.apply_reply(request, reply, quota, now),
            Err(error) => {
                tracing::warn!(?error, "Redis is unavailable: requests are not charged");
                lease.record_failure(request, quota);
                RateLimitDecision::NotCharged
            }
        }
    };
    app.run_to_completion(renewal).await.unwrap_or(RateLimitDecision::NotCharged)
}

/// Deletes the buckets of a deleted account. Always returns `false`: one pass is enough. One pipeline. A server that still works on a request of the
/// account may write a bucket again, which expires when it is full, as do the buckets of failed log-ins by address and by device, and of mail
/// addresses.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, account: UserId) -> Result<bool, Error> {
    let subjects = |limit: Limit| match limit.charged_to() {
        ChargedTo::Account | ChargedTo::AccountOrAddress | ChargedTo::Mail => vec![Subject::Account(account)],
        ChargedTo::Login => vec![Subject::logins_of(account), Subject::identifiers_of(account)],
        ChargedTo::Address | ChargedTo::LoginAndAddress | ChargedTo::Device | ChargedTo::ServerKey => Vec::new(),
    };
    let buckets = |limit: Limit| subjects(limit).into_iter().map(move |subject| (limit, subject));
    store::purge(app.db(), &Limit::ALL.into_iter().flat_map(buckets).collect::<Vec<_>>()).await?;
    Ok(false)
}
