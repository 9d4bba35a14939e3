//! The use cases of limits: charge, give back, and let a request pay its cost.

use super::bill::{Bill, Payer};
use super::lease::{Lease, Leases};
use super::model::{Charge, RateLimitDecision, Subject, Taken};
use super::store::{self, Ask};
use crate::app::App;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::quota::{By, Limit, Quota};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How many networks of a /48 of IPv6 may use up their buckets at the same time. A customer who has all 65,536 is one of a few; a mobile operator's
/// customers have one each, and most of them fail at nothing.
const NETWORKS_OF_A_SITE: u64 = 256;

/// Takes a token out of each bucket, or out of none. Nothing happens where there are no limits. One round trip; one more when it
/// is refused and something had been taken.
///
/// What is charged to an address of IPv6 is also charged to the bucket of its /48, which holds 256 times as much.
///
/// A bucket whose node did not answer in time may have lost a token all the same: nobody knows, so none is given back to it.
///
/// # Errors
/// `RATE_LIMITED`, with the longest wait among the buckets that were empty (of equals, the first); `STORAGE_UNAVAILABLE`, where none was
/// empty but one could not be asked.
pub async fn charge(app: &App, charges: &[Charge]) -> Result<(), Error> {
    let Some(asks) = asks(app, charges) else { return Ok(()) };
    let (mut taken, mut refused, mut failed) = (Vec::new(), Vec::new(), None);
    for (ask, answer) in asks.iter().zip(store::take_each(app.db(), app.now(), &asks).await) {
        match answer {
            Ok(Taken { taken: 0, wait, .. }) => refused.push((ask.limit, wait)),
            Ok(_) => taken.push(*ask),
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
    put_back(app, taken).await;
    Err(error)
}

/// Gives back what [`charge`] took. One round trip; should it fail for a bucket, its token comes back by itself in time, and whoever paid it has so
/// much less until then. It is not tried again: the request has its answer, and a second try might give a token that nobody took.
pub async fn give_back(app: &App, charges: &[Charge]) {
    if let Some(asks) = asks(app, charges) {
        put_back(app, asks).await;
    }
}

async fn put_back(app: &App, mut taken: Vec<Ask>) {
    taken.iter_mut().for_each(|ask| (ask.least, ask.most) = (-1, -1));
    for (ask, answer) in taken.iter().zip(store::take_each(app.db(), app.now(), &taken).await) {
        if let Err(error) = answer {
            tracing::debug!(%error, limit = ask.limit.name(), "a token was not given back");
        }
    }
}

/// A token of each bucket.
fn asks(app: &App, charges: &[Charge]) -> Option<Vec<Ask>> {
    let rates = app.config().rates.as_ref().filter(|_| !charges.is_empty())?;
    let ask = |limit: Limit, subject, factor| {
        let quota = rates.of(limit).times(factor);
        Ask { limit, subject, quota, least: 1, most: 1, debt: None }
    };
    let mut asks = Vec::with_capacity(charges.len());
    for (limit, subject) in charges {
        asks.push(ask(*limit, *subject, 1));
        if let Subject::Address(network) = subject {
            asks.extend(network.site().map(|site| ask(*limit, Subject::Site(site), NETWORKS_OF_A_SITE)));
        }
    }
    Some(asks)
}

/// Takes as many tokens as there are out of one bucket, if they are within `range`. One round trip.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn take(app: &App, (limit, subject): Charge, quota: Quota, range: RangeInclusive<u64>) -> Result<Taken, Error> {
    take_with_debt(app, (limit, subject), quota, range, None).await
}

async fn take_with_debt(
    app: &App,
    (limit, subject): Charge,
    quota: Quota,
    range: RangeInclusive<u64>,
    debt: Option<u64>,
) -> Result<Taken, Error> {
    let [least, most] = [range.start(), range.end()].map(|tokens| (*tokens).min(quota.tokens()) as i64);
    let ask = Ask { limit, subject, quota, least, most, debt };
    store::take(app.db(), app.now(), &ask).await
}

/// Lets a request pay its cost out of what the process has in hand; one that costs more than a full bucket holds takes a full one.
/// No round trip for most, one for each hundredth of the bucket. When Redis cannot be asked, the request is free.
pub async fn pay(app: &App, leases: &Leases, subject: Option<Subject>, cost: u64) -> RateLimitDecision {
    pay_for(app, leases, Limit::Requests, subject, cost).await
}

/// Lets an operation pay its estimate as [`pay`] does, and opens its bill, on which the work beyond the estimate is charged.
pub async fn open_bill(app: &App, leases: &Leases, subject: Option<Subject>, cost: usize) -> (RateLimitDecision, Bill) {
    let toll = pay(app, leases, subject, cost as u64).await;
    let payer = match (toll, subject, &app.config().rates) {
        (RateLimitDecision::Due(..), _, _) => None,
        // Also where the estimate was free since Redis could not be asked: a subscription lasts for hours.
        (_, Some(subject), Some(rates)) => Some(Payer { leases: leases.clone(), subject, quota: rates.of(Limit::Requests) }),
        _ => None,
    };
    (toll, Bill::new(app, cost as u64, payer, matches!(toll, RateLimitDecision::Paid(_))))
}

/// The same for what else is asked so often that it is leased: each limit has leases of its own.
pub async fn pay_for(app: &App, leases: &Leases, limit: Limit, subject: Option<Subject>, cost: u64) -> RateLimitDecision {
    let (Some(rates), Some(subject)) = (&app.config().rates, subject) else { return RateLimitDecision::Free };
    let quota = rates.of(limit);
    let cost = cost.clamp(1, quota.tokens());
    let lease = leases.of(subject);
    match lease.spend(cost, quota, app.now()) {
        Some(toll) => toll,
        None => Box::pin(renew(app, &lease, (limit, subject), quota, cost)).await,
    }
}

/// Asks Redis, one request of a subject at a time, so that the first leases for all who wait. Waiting for one's turn has no end of
/// its own: whoever sends enough at once would be free otherwise. A renewal that has begun goes on when its request goes away: the debt
/// that is on its way to the bucket would be lost, or counted twice.
async fn renew(app: &App, lease: &Arc<Lease>, charge: Charge, quota: Quota, cost: u64) -> RateLimitDecision {
    let failures = lease.failures();
    let turn = lease.asking.clone().lock_owned().await;
    if lease.failures() != failures {
        return RateLimitDecision::Free; // It failed for those who asked meanwhile: a frozen Redis is waited for once.
    }
    let now = app.now();
    if let Some(toll) = lease.spend(cost, quota, now) {
        return toll;
    }
    let (own, lease) = (app.clone(), lease.clone());
    let renewal = async move {
        let _turn = turn;
        let need = lease.need(cost, quota, now);
        let asked = take_with_debt(&own, charge, quota, need.least..=need.most, Some(need.debt));
        let patience = own.db().timing().charge;
        match within(patience, asked).await.unwrap_or(Err(Error::StorageUnavailable)) {
            Ok(answer) => lease.settle(need, answer, quota, now),
            Err(error) => {
                tracing::warn!(?error, "requests are not charged");
                lease.failed(need, quota);
                RateLimitDecision::Free
            }
        }
    };
    app.finish(renewal).await.unwrap_or(RateLimitDecision::Free)
}

/// Takes the buckets of an account that is gone away. One pipeline. A server that still works on a request of its may write one again, which
/// lives until it is full, as do those of failed log-ins by address and by device.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, account: UserId, login: &str) -> Result<bool, Error> {
    let of = |limit: Limit| match limit.by() {
        By::Account | By::AccountOrAddress => Some((limit, Subject::Account(account))),
        By::Login => Some((limit, Subject::login(login))),
        By::Address | By::LoginAndAddress | By::Device => None,
    };
    store::erase(app.db(), &Limit::ALL.into_iter().filter_map(of).collect::<Vec<_>>()).await?;
    Ok(false)
}
