//! Recording of promoted statuses that were seen: counts and charges their impressions, and applies caps.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::{Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::domains::ads::budget;
use crate::domains::ads::budget::store::reservations::{ClickFunding, Grant, ReservationReply, ReservationRequest};
use crate::domains::ads::model::{MAX_TOKENS, RECORD_WINDOW, Slot};
use crate::domains::ads::rate_limit;
use crate::domains::ads::targeting::service::frequency_caps;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::service::traffic::{ImpressionLimits, Requester};
use crate::domains::ads::tracking::token::{Purpose, Token};
use std::collections::HashSet;
use std::net::IpAddr;

/// Maximum lifetime of the hint that a viewer has reached a campaign's cap. If the owner lifts the cap, the viewer sees the campaign once the hint has
/// expired. The lifetime is not shorter, because reading a home timeline writes no hints: every page would evaluate the capped campaigns again.
const CAP_HINT_TTL: Millis = DAY;

/// Records promoted statuses that `viewer` has seen. Returns the tokens that were counted. Not counted are tokens older than ten minutes, tokens that
/// were recorded before, tokens of a campaign that cannot be shown any more or whose cap the viewer has reached, and tokens beyond the plausible number
/// for the address. Two round trips: the counter of the address, and the reservation.
///
/// # Errors
/// `INVALID_TOKEN` if a token is forged or was issued to another viewer, `INVALID_INPUT` for more than twenty tokens: nothing is counted
/// then; `RATE_LIMITED`.
pub async fn record(app: &App, address: Option<IpAddr>, viewer: UserId, tokens: Vec<String>) -> Outcome<Vec<String>> {
    rate_limit::charge(app, address).await?;
    if tokens.len() > MAX_TOKENS {
        return Err(UserError::new(UserErrorCode::InvalidInput, "Record at most 20 impressions at once.", &["tokens"]).into());
    }
    let now = app.now();
    let mut read = Vec::with_capacity(tokens.len());
    for text in tokens {
        let token = signing::open(app, &text).await?;
        let token = token.filter(|token| token.purpose == Purpose::Promotion && token.placement_id == viewer.0);
        read.push((text, token.ok_or_else(invalid)?));
    }
    read.retain(|(_, token)| now < token.at + RECORD_WINDOW);
    let secret = app.cursors().await?.secret();
    let mut limits = ImpressionLimits::new(app, secret, Requester::Visitor(address));
    if !read.is_empty() {
        limits.read_address_count(app).await?;
    }
    let mut requests = Vec::with_capacity(read.len());
    for (_, token) in &read {
        requests.push(reservation_request(token, app.next_id().await?, now / DAY));
    }
    limits.apply(app, &mut requests).await?;
    let (mut counted, mut capped) = (Vec::new(), Vec::new());
    let visitor = read.iter().find_map(|(_, token)| token.visitor);
    for ((text, token), result) in read.into_iter().zip(budget::service::reserve(app, now, requests, &mut HashSet::new()).await?)
    {
        match result.reply {
            ReservationReply::Served(served) => {
                reevaluate(app, served.needs_reevaluation.then_some(token.share.campaign));
                capped.extend(served.capped.map(|until| (token.share.campaign, until)));
                let is_invalid = served.click_funding == ClickFunding::Invalid;
                app.metrics().count_ad_impressions(is_invalid, 1);
                counted.extend((!is_invalid).then_some(text));
            }
            ReservationReply::Capped(until) => capped.extend(until.map(|until| (token.share.campaign, until))),
            ReservationReply::Inactive | ReservationReply::NoAd => reevaluate(app, [token.share.campaign]),
            _ => {}
        }
    }
    limits.count(app, None, counted.len());
    if let Some(visitor) = visitor {
        // All tokens belong to the same viewer.
        frequency_caps::record(app, now, visitor, capped, CAP_HINT_TTL);
    }
    Ok(counted)
}

fn reservation_request(token: &Token, attempt: u64, day: u64) -> ReservationRequest {
    ReservationRequest {
        share: token.share,
        slot: Slot::InFeed,
        impression: token.impression,
        attempt,
        visitor: token.visitor,
        day,
        grant: Grant::default(),
        min_ecpm: 0,
        max_price: None,
        priced_ad: Some((token.ad, token.price)),
        skip: Vec::new(),
        nonce: Some(token.nonce),
        invalid: false,
        origin: None,
    }
}

fn invalid() -> UserError {
    UserError::new(UserErrorCode::InvalidToken, "Invalid or expired impression token.", &["tokens"])
}
