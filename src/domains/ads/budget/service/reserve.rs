//! Complete reservations, with the grants that they need: a share without enough money requests a grant from the pool, and the other shares return
//! money if the pool is empty.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::budget::store::grants;
use crate::domains::ads::budget::store::grants::{GrantRequest, GrantResult};
use crate::domains::ads::budget::store::reservations;
use crate::domains::ads::budget::store::reservations::{Grant, ReservationReply, ReservationRequest, ReturnedMoney, Shortfall};
use crate::domains::ads::model::{Money, Share};
use futures_util::future::try_join_all;
use std::collections::{HashMap, HashSet};

/// Maximum number of attempts of a reservation. Two or three suffice unless other decisions request grants from the same pool.
const MAX_ATTEMPTS: usize = 24;

/// A reservation in progress.
struct PendingReservation {
    request: ReservationRequest,
    reply: Option<ReservationReply>,
    /// As [`ReservationResult::money_left`].
    money_left: Option<Money>,
}

/// The result of a reservation.
pub(in crate::domains::ads) struct ReservationResult {
    /// The reply of the share. Never `LaterDay` or `OutOfMoney`.
    pub(in crate::domains::ads) reply: ReservationReply,
    /// The day to which the impression counts.
    pub(in crate::domains::ads) day: u64,
    /// The money that the share and the pool have left, if this money does not pay for the requested ad, or for the best ad.
    pub(in crate::domains::ads) money_left: Option<Money>,
}

/// Reserves impressions, independently of each other. One round trip if the shares have money, else one for each step of the grant. If the
/// pool of a campaign is empty, its other shares return their free money, unless the campaign is in `collected`: this happens at most once
/// for each ad request.
pub(in crate::domains::ads) async fn reserve(
    app: &App,
    now: Millis,
    requests: Vec<ReservationRequest>,
    collected: &mut HashSet<CampaignId>,
) -> Result<Vec<ReservationResult>, Error> {
    let mut all: Vec<PendingReservation> =
        requests.into_iter().map(|request| PendingReservation { request, reply: None, money_left: None }).collect();
    for _ in 0..MAX_ATTEMPTS {
        let open: Vec<&mut PendingReservation> = all.iter_mut().filter(|pending| pending.reply.is_none()).collect();
        if open.is_empty() {
            break;
        }
        attempt_open(app, now, open, collected).await?;
    }
    let result = |pending: PendingReservation| ReservationResult {
        reply: pending.reply.unwrap_or(ReservationReply::NoAd),
        day: pending.request.day,
        money_left: pending.money_left,
    };
    Ok(all.into_iter().map(result).collect())
}

/// Makes one attempt of each open reservation, and requests grants for shares without enough money.
async fn attempt_open(
    app: &App,
    now: Millis,
    open: Vec<&mut PendingReservation>,
    collected: &mut HashSet<CampaignId>,
) -> Result<(), Error> {
    let requests: Vec<ReservationRequest> = open.iter().map(|pending| pending.request.clone()).collect();
    let replies = reservations::reserve(app.db(), now, &requests).await?;
    let mut short = Vec::new();
    for (pending, reply) in open.into_iter().zip(replies) {
        match reply {
            ReservationReply::LaterDay(day) => pending.request.day = day,
            ReservationReply::OutOfMoney(shortfall) => short.push((pending, shortfall)),
            reply => pending.reply = Some(reply),
        }
    }
    if short.is_empty() { Ok(()) } else { request_grants(app, now, short, collected).await }
}

/// Requests grants for shares without enough money.
async fn request_grants(
    app: &App,
    now: Millis,
    short: Vec<(&mut PendingReservation, Shortfall)>,
    collected: &mut HashSet<CampaignId>,
) -> Result<(), Error> {
    let request = |(pending, shortfall): &(&mut PendingReservation, Shortfall)| grant_request(&pending.request, shortfall);
    let requests: Vec<GrantRequest> = short.iter().map(request).collect();
    let mut results = grants::request(app.db(), now, &requests).await?;
    retry_after_collecting(app, now, requests, &mut results, collected).await?;
    for ((pending, shortfall), result) in short.into_iter().zip(results) {
        match result {
            GrantResult::Granted(grant) => {
                pending.request.grant = grant;
                pending.request.day = pending.request.day.max(grant.day);
            }
            GrantResult::Refused(money_left) => {
                let money_left = Money(shortfall.free.0 + money_left.0);
                (pending.request.max_price, pending.money_left) = (Some(money_left), Some(money_left));
                // If one particular ad was requested, there is no cheaper ad to try.
                pending.reply = pending.request.priced_ad.map(|_| ReservationReply::NoAd);
            }
            GrantResult::NoCampaign => pending.reply = Some(ReservationReply::Inactive),
        }
    }
    Ok(())
}

fn grant_request(request: &ReservationRequest, shortfall: &Shortfall) -> GrantRequest {
    let want = Money(shortfall.price.0.saturating_sub(shortfall.free.0));
    GrantRequest {
        share: request.share,
        day: request.day,
        granted: shortfall.granted,
        want,
        unit: shortfall.price,
        returned: vec![shortfall.returned],
    }
}

/// Has the other shares of refused campaigns return their free money, and requests the grants again.
async fn retry_after_collecting(
    app: &App,
    now: Millis,
    requests: Vec<GrantRequest>,
    results: &mut [GrantResult],
    collected: &mut HashSet<CampaignId>,
) -> Result<(), Error> {
    let refused = requests.into_iter().zip(results).filter(|(_, result)| matches!(result, GrantResult::Refused(_)));
    let mut refused: Vec<(GrantRequest, &mut GrantResult)> =
        refused.filter(|(request, _)| !collected.contains(&request.share.campaign)).collect();
    let share_counts = share_counts::load(app, refused.iter().map(|(request, _)| request.share.campaign)).await?;
    refused.retain(|(request, _)| share_counts.shares_of(request.share.campaign) > 1);
    let firsts = refused.iter().map(|(request, _)| request).filter(|request| collected.insert(request.share.campaign));
    let returned_by_campaign = try_join_all(
        firsts.map(|request| collect_from_others(app, now, request, share_counts.shares_of(request.share.campaign))),
    )
    .await?;
    let returned_by_campaign: HashMap<CampaignId, Vec<ReturnedMoney>> = returned_by_campaign.into_iter().collect();
    for (request, _) in &mut refused {
        request.returned.extend(returned_by_campaign.get(&request.share.campaign).into_iter().flatten());
    }
    let (requests, results): (Vec<GrantRequest>, Vec<&mut GrantResult>) = refused.into_iter().unzip();
    for (result, retried) in results.into_iter().zip(grants::request(app.db(), now, &requests).await?) {
        *result = retried;
    }
    Ok(())
}

/// Has the other shares of a campaign return their free money. Two round trips.
async fn collect_from_others(
    app: &App,
    now: Millis,
    request: &GrantRequest,
    shares: u64,
) -> Result<(CampaignId, Vec<ReturnedMoney>), Error> {
    let granted = grants::grants(app.db(), request.share.campaign, shares).await?;
    let others: Vec<(Share, Grant)> = granted.into_iter().filter(|(share, _)| *share != request.share).collect();
    Ok((request.share.campaign, reservations::return_grants(app.db(), now, request.day, &others).await?))
}

/// Has all shares of a campaign return their free money, including grants that they have not received yet. Three round trips. Shares keep
/// grants that they receive during the call.
pub(in crate::domains::ads) async fn collect_free_money(app: &App, campaign: CampaignId, shares: u64) -> Result<(), Error> {
    let (db, now) = (app.db(), app.now());
    let granted = grants::grants(db, campaign, shares).await?;
    let returned = reservations::return_grants(db, now, now / DAY, &granted).await?;
    let share = Share { campaign, n: 0 };
    let request = GrantRequest { share, day: now / DAY, granted: 0, want: Money(0), unit: Money(1), returned };
    grants::request(db, now, &[request]).await.map(drop)
}
