//! The ad decision: selects candidates, and reserves an impression for each. The reservation checks the budget and the visitor's frequency cap,
//! charges the price and counts the impression in one script.

use crate::app::App;
use crate::base::config::Auction;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{CampaignId, UserId};
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::budget::store::reservations::ReservationRequest;
use crate::domains::ads::model::Ecpm;
use crate::domains::ads::rate_limit;
use crate::domains::ads::serving::service::auction::price_of;
use crate::domains::ads::serving::service::decision::{Decision, Impression, MAX_EVALUATED};
use crate::domains::ads::serving::service::request::{AdRequest, CheckedAdRequest, check, no_server_key, unknown_website};
use crate::domains::ads::serving::store;
use crate::domains::ads::serving::store::PublisherStatus;
use crate::domains::ads::targeting::model::IneligibilityReason;
use crate::domains::ads::targeting::service::candidates::CandidateMerge;
use crate::domains::ads::targeting::service::eligibility::evaluate;
use crate::domains::ads::targeting::service::eligibility::{AdRequestContext, Bid};
use crate::domains::ads::targeting::service::frequency_caps::CapHints;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::service::traffic::{ImpressionLimits, Requester};
use crate::domains::ads::tracking::store::traffic::HourlyTraffic;
use std::collections::HashSet;
use std::net::IpAddr;

/// Number of campaigns in the first batch that is evaluated; each further batch is four times as large.
const FIRST_BATCH_SIZE: usize = 32;

/// Serves the best eligible ads, of different campaigns first. Counts each impression, and charges its price or holds the price of its
/// click. Returns the first ad of each campaign before additional ads, each group with the highest eCPM first; empty if no ad fits. Impressions
/// beyond the plausible number for the address or the website are served free of charge. Two round trips in most cases; three more in a second-price
/// auction (further candidates, and their evaluation by two pipelines in parallel); two more if a share requests a grant; more if a candidate fails,
/// or if data are not in the caches of this process.
///
/// # Errors
/// `NOT_FOUND` for an unknown key, `FORBIDDEN` for a website that is suspended or requires another server key, `INVALID_INPUT`;
/// `RATE_LIMITED`.
pub async fn serve(app: &App, address: Option<IpAddr>, input: AdRequest) -> Outcome<Vec<Impression>> {
    rate_limit::charge(app, address).await?;
    let secret = app.cursors().await?.secret();
    let request = check(secret, input).map_err(Refusal::User)?;
    let ring = signing::ring(app).await?;
    let now = app.now();
    let mut candidates = CandidateMerge::new(request.slot, &request.keywords);
    let candidate_count = request.count + usize::from(app.config().auction == Auction::SecondPrice);
    let ranges = candidates.ranges_to_read(candidate_count);
    let requester = request.address.map_or(Requester::Visitor(address), |visitor| Requester::Publisher(request.website, visitor));
    let mut limits = ImpressionLimits::new(app, secret, requester);
    let data = store::read_decision_data(app.db(), now, request.website, request.visitor, limits.address, &ranges).await?;
    let (owner, volume) = check_publisher(data.publisher, &request)?;
    limits.set_address_count(data.address_impression_count);
    limits.set_website(app, owner, &volume);
    candidates.take(candidate_count, data.offers);
    let caps = CapHints::of(app);
    let (capped, collected, found) = (data.capped, HashSet::new(), Vec::new());
    let request = &request;
    let mut decision = Decision { app, now, request, candidates, candidates_read: 0, capped, caps, collected, found, limits };
    decision.decide().await?;
    decision.count();
    Ok(decision.present(&ring).await?)
}

/// Returns the owner and the traffic of the website, if the website can be served.
fn check_publisher(publisher: PublisherStatus, request: &CheckedAdRequest) -> Result<(UserId, HourlyTraffic), UserError> {
    match publisher {
        PublisherStatus::Active { server_key, .. } if server_key > 0 && server_key != request.server_key => Err(no_server_key()),
        PublisherStatus::Active { owner, volume, .. } => Ok((owner, volume)),
        PublisherStatus::Suspended => Err(website_suspended()),
        PublisherStatus::NotFound => Err(unknown_website()),
    }
}

fn website_suspended() -> UserError {
    UserError::new(UserErrorCode::Forbidden, "This website shows no ads now: its owner is suspended.", &["websiteKey"])
}

impl Decision<'_> {
    /// Selects and reserves the ads. In a first-price auction, reserves the best candidates without evaluating them, because most are eligible. In a
    /// second-price auction, and to replace candidates that failed, evaluates campaigns before it reserves.
    async fn decide(&mut self) -> Result<(), Error> {
        if self.app.config().auction == Auction::FirstPrice {
            let batch = self.next(self.missing()).await?;
            let min_ecpm = self.candidates.best_ecpm();
            self.reserve_batch(&batch, min_ecpm).await?;
        }
        self.evaluate_candidates().await?;
        self.backfill().await
    }

    /// Evaluates campaigns in batches of growing size until enough are eligible, and reserves those.
    async fn evaluate_candidates(&mut self) -> Result<(), Error> {
        let (mut bids, mut evaluated, mut batch_size): (Vec<Bid>, usize, usize) = (Vec::new(), 0, FIRST_BATCH_SIZE);
        // At the second price, the bid after the last winner sets its price.
        let price_setters = usize::from(self.app.config().auction == Auction::SecondPrice);
        while self.missing() > 0 {
            let needed = self.missing() + price_setters;
            let is_enough = |bids: &[Bid], best: Ecpm| bids.get(needed - 1).is_some_and(|it| it.ecpm >= best);
            while !is_enough(&bids, self.candidates.best_ecpm()) && evaluated < MAX_EVALUATED {
                let batch = self.next(batch_size.min(MAX_EVALUATED - evaluated)).await?;
                if batch.is_empty() {
                    break;
                }
                (evaluated, batch_size) = (evaluated + batch.len(), batch_size * 4);
                bids.extend(self.evaluate(&batch).await?);
                bids.sort_by_key(|it| std::cmp::Reverse((it.ecpm, it.share.campaign)));
            }
            let rest = bids.split_off(bids.len().min(self.missing()));
            if bids.is_empty() {
                break;
            }
            let reservations = self.reservations_of(&bids, rest.first().map(|it| it.ecpm)).await?;
            bids = rest;
            let failed = self.reserve(reservations).await?;
            reevaluate(self.app, failed.into_iter().map(|(share, _)| share.campaign));
        }
        Ok(())
    }

    /// Evaluates a batch and returns the eligible bids. A campaign that is not eligible for any visitor now has stale listings and is reevaluated.
    async fn evaluate(&mut self, batch: &[CampaignId]) -> Result<Vec<Bid>, Error> {
        let context = AdRequestContext { now: self.now, slot: self.request.slot, visitor: self.request.visitor };
        let (mut bids, mut capped, mut stale) = (Vec::new(), Vec::new(), Vec::new());
        for (campaign, candidate) in batch.iter().zip(evaluate(self.app, context, batch).await?) {
            let Some(candidate) = candidate else {
                stale.push(*campaign);
                continue;
            };
            match candidate.best_bid(context) {
                Ok(bid) => bids.push(bid),
                Err(reasons) if reasons == [IneligibilityReason::Capped] => capped.push((*campaign, candidate.cap_period_end())),
                Err(_) => stale.push(*campaign),
            }
        }
        reevaluate(self.app, stale);
        self.record_cap_hints(capped);
        Ok(bids)
    }

    /// Builds reservation requests for the bids, the highest eCPM first. `after` is the eCPM of the bid after the last of `bids`, which sets the
    /// price of that last bid.
    async fn reservations_of(&self, bids: &[Bid], after: Option<Ecpm>) -> Result<Vec<ReservationRequest>, Error> {
        let mut reservations = Vec::with_capacity(bids.len());
        for (at, it) in bids.iter().enumerate() {
            let price = price_of(self.app, &it.ad, it.ecpm, bids.get(at + 1).map(|next| next.ecpm).or(after));
            reservations
                .push(ReservationRequest { priced_ad: Some((it.ad.id.number, price)), ..self.reservation_for(it.share).await? });
        }
        Ok(reservations)
    }

    /// Reserves the best ad of each campaign of a batch that was not evaluated. `min_ecpm` is the eCPM of the best other candidate: a campaign below
    /// it is not reserved.
    async fn reserve_batch(&mut self, batch: &[CampaignId], min_ecpm: Ecpm) -> Result<(), Error> {
        let share_counts = share_counts::load(self.app, batch.iter().copied()).await?;
        let mut reservations = Vec::with_capacity(batch.len());
        for campaign in batch {
            let share = share_counts.share_of(*campaign, self.request.visitor);
            reservations.push(ReservationRequest { min_ecpm, ..self.reservation_for(share).await? });
        }
        let failed = self.reserve(reservations).await?;
        reevaluate(self.app, failed.into_iter().map(|(share, _)| share.campaign));
        Ok(())
    }
}
