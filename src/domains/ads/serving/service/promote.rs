//! Promoted statuses in home timelines: selected when the timeline is read, counted when the client reports that they were seen.

use crate::app::App;
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::ads::budget::store::reservations::ClickFunding;
use crate::domains::ads::model::{Money, Visitor};
use crate::domains::ads::serving::service::auction::price_of;
use crate::domains::ads::serving::service::choose::{PromotionRequest, choose};
use crate::domains::ads::targeting::service::eligibility::Bid;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::token::{KeyRing, Purpose, Token};
use crate::domains::statuses::ViewedStatus;
use siphasher::sip::SipHasher24;
use std::collections::HashSet;
use std::hash::Hasher;

/// A promoted status.
#[derive(Clone, Debug)]
pub struct PromotedStatus {
    /// The status.
    pub status: ViewedStatus,
    /// The impression token. The client reports the impression with it.
    pub token: String,
    /// The campaign's name.
    pub campaign_name: String,
}

/// Returns the `Visitor` of the viewer of a home timeline. Its name has a control character, which no `visitorId` of a publisher can contain. So a publisher
/// with an account's id can neither find out which ads the account has seen, nor use up its caps.
fn visitor_of_viewer(secret: [u8; 16], viewer: UserId) -> Visitor {
    Visitor::new(secret, &format!("\0reader {}", viewer.global()))
}

/// Returns statuses to promote to `viewer` after the entries at `positions`, at most one for each: the best first, of different campaigns,
/// none of the viewer's own, none that the viewer cannot see, none of `on_page`. Counts no impression, so the same page has the same promotions
/// until an impression is counted. Campaigns whose status was deleted are reevaluated in the background. Three round trips, and those of
/// the statuses; more if the first sixteen campaigns are not enough.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn promote(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    positions: &[u64],
    on_page: &HashSet<StatusId>,
) -> Result<Vec<PromotedStatus>, Error> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let secret = app.cursors().await?.secret();
    let request = PromotionRequest { app, loaders, viewer, visitor: visitor_of_viewer(secret, viewer), now: app.now(), on_page };
    // One status more than requested: its bid sets the price of the last promotion.
    let chosen = choose(&request, positions.len() + 1).await?;
    let ring = signing::ring(app).await?;
    let mut promoted = Vec::new();
    for (at, (position, (bidder, seen))) in positions.iter().zip(&chosen).enumerate() {
        let next = chosen.get(at + 1).map(|(next, _)| next.ecpm);
        let price = price_of(app, &bidder.ad, bidder.ecpm, next);
        let token = token(&request, secret, &ring, bidder, price, *position).await?;
        promoted.push(PromotedStatus { status: seen.clone(), token, campaign_name: bidder.campaign_name.clone() });
    }
    Ok(promoted)
}

/// Returns the token that reports the impression after the entry at `position`.
async fn token(
    request: &PromotionRequest<'_>,
    secret: [u8; 16],
    ring: &KeyRing,
    bidder: &Bid,
    price: Money,
    position: u64,
) -> Result<String, Error> {
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"promotion");
    for number in [request.viewer.0, bidder.share.campaign.0, position] {
        hasher.write_u64(number);
    }
    let token = Token {
        purpose: Purpose::Promotion,
        share: bidder.share,
        ad: bidder.ad.id.number,
        impression: request.app.next_id().await?,
        visitor: Some(request.visitor),
        pricing: bidder.ad.pricing,
        price,
        at: request.now,
        day: request.now / DAY,
        placement_id: request.viewer.0,
        nonce: hasher.finish().to_be_bytes(),
        click_funding: ClickFunding::Held,
    };
    signing::sign(ring, &token)
}
