//! Statuses that are promoted in homes: chosen when they are read, counted when they were seen.

use crate::app::App;
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::ads::budget::store::reservations::ClickFunding;
use crate::domains::ads::model::{Money, Visitor};
use crate::domains::ads::serving::service::auction::price_of;
use crate::domains::ads::serving::service::choose::{Reader, choose};
use crate::domains::ads::targeting::service::eligibility::Bid;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::token::{Purpose, Ring, Token};
use crate::domains::statuses::ViewedStatus;
use siphasher::sip::SipHasher24;
use std::collections::HashSet;
use std::hash::Hasher;

/// A status that is promoted.
#[derive(Clone, Debug)]
pub struct PromotedStatus {
    /// The status.
    pub seen: ViewedStatus,
    /// What its impression is reported by.
    pub token: String,
    /// The campaign's name.
    pub campaign_name: String,
}

/// The visitor that somebody is who reads their home. A publisher's name for a visitor holds no control character, so it is none of these: nobody who
/// knows an account's id learns what it has seen, or uses up what it may see.
fn reader(secret: [u8; 16], viewer: UserId) -> Visitor {
    Visitor::new(secret, &format!("\0reader {}", viewer.global()))
}

/// Statuses to promote to `viewer` behind the entries at `places`, one each as far as there are so many: the best first, of different campaigns,
/// none of the viewer's own, none that they would not see, none of `on_page`. Writes nothing, so that the same page has the same ones as long as
/// nothing was counted; campaigns whose status is gone are looked at again behind it. Three round trips, and those of the statuses; more where the
/// first sixteen campaigns do not do.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn promote(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    places: &[u64],
    on_page: &HashSet<StatusId>,
) -> Result<Vec<PromotedStatus>, Error> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let secret = app.cursors().await?.secret();
    let reader = Reader { app, loaders, viewer, visitor: reader(secret, viewer), now: app.now(), on_page };
    // One more, which sets the last one's price.
    let chosen = choose(&reader, places.len() + 1).await?;
    let ring = signing::ring(app).await?;
    let mut promoted = Vec::new();
    for (at, (place, (bidder, seen))) in places.iter().zip(&chosen).enumerate() {
        let next = chosen.get(at + 1).map(|(next, _)| next.ecpm);
        let price = price_of(app, &bidder.ad, bidder.ecpm, next);
        let token = token(&reader, secret, &ring, bidder, price, *place).await?;
        promoted.push(PromotedStatus { seen: seen.clone(), token, campaign_name: bidder.campaign_name.clone() });
    }
    Ok(promoted)
}

/// What its impression behind the entry at `place` is reported by.
async fn token(
    reader: &Reader<'_>,
    secret: [u8; 16],
    ring: &Ring,
    bidder: &Bid,
    price: Money,
    place: u64,
) -> Result<String, Error> {
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"promotion");
    for part in [reader.viewer.0, bidder.share.campaign.0, place] {
        hasher.write_u64(part);
    }
    let token = Token {
        purpose: Purpose::Promotion,
        share: bidder.share,
        ad: bidder.ad.id.number,
        impression: reader.app.next_id().await?,
        visitor: Some(reader.visitor),
        pricing: bidder.ad.pricing,
        price,
        at: reader.now,
        day: reader.now / DAY,
        place: reader.viewer.0,
        nonce: hasher.finish().to_be_bytes(),
        backing: ClickFunding::Held,
    };
    signing::sign(ring, &token)
}
