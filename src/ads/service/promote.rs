//! Statuses that are promoted in homes: chosen when they are read, counted when they were seen.

use super::super::model::{Creative, Money, Slot, Visitor, second_price};
use super::super::store::offers;
use super::super::token::{Purpose, Ring, Token};
use super::look::{Bidder, Occasion, look};
use super::signing;
use super::walk::Walk;
use crate::app::App;
use crate::clock::DAY;
use crate::config::Auction;
use crate::error::Error;
use crate::ids::{StatusId, UserId};
use crate::request::Loaders;
use crate::statuses::Seen;
use crate::statuses::service as statuses;
use siphasher::sip::SipHasher24;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hasher;

/// How many campaigns are looked at at once, at first.
const CHUNK: usize = 16;
/// How many are looked at for a page. Those further down are not promoted to whoever has seen enough of all above them.
const MOST: usize = 256;

/// A status that is promoted.
#[derive(Clone, Debug)]
pub struct Promoted {
    /// The status.
    pub seen: Seen,
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
/// nothing was counted. Three round trips, and those of the statuses.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn promote(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    places: &[u64],
    on_page: &HashSet<StatusId>,
) -> Result<Vec<Promoted>, Error> {
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let secret = app.cursors().await?.secret();
    let visitor = reader(secret, viewer);
    let occasion = Occasion { now: app.now(), slot: Slot::InFeed, visitor: Some(visitor) };
    let choosing = Choosing { app, loaders, viewer, occasion, visitor, on_page };
    // One more, which sets the last one's price.
    let chosen = choosing.choose(places.len() + 1).await?;
    let ring = signing::ring(app).await?;
    let mut promoted = Vec::new();
    for (at, (place, (bidder, seen))) in places.iter().zip(&chosen).enumerate() {
        let next = chosen.get(at + 1).map(|(next, _)| next.ecpm);
        let price = match app.config().auction {
            Auction::FirstPrice => bidder.ad.price(),
            Auction::SecondPrice => second_price(bidder.ad.pricing, bidder.ad.bid, bidder.ecpm, next),
        };
        let token = choosing.token(secret, &ring, bidder, price, *place).await?;
        promoted.push(Promoted { seen: seen.clone(), token, campaign_name: bidder.campaign_name.clone() });
    }
    Ok(promoted)
}

struct Choosing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
    occasion: Occasion,
    visitor: Visitor,
    on_page: &'a HashSet<StatusId>,
}

impl Choosing<'_> {
    /// The best that may be promoted, at most so many.
    async fn choose(&self, want: usize) -> Result<Vec<(Bidder, Seen)>, Error> {
        let (mut found, mut looked, mut chunk): (Vec<(Bidder, Seen)>, usize, usize) = (Vec::new(), 0, CHUNK);
        let mut walk = Walk::new(Slot::InFeed, &[]);
        let (first, capped) = offers::read_for(self.app.db(), self.occasion.now, self.visitor, &walk.wanted(chunk)).await?;
        walk.take(chunk, first);
        while found.get(want - 1).is_none_or(|(it, _)| it.ecpm < walk.best()) && looked < MOST {
            loop {
                let parts = walk.wanted(chunk);
                if parts.is_empty() {
                    break;
                }
                let read = offers::read(self.app.db(), &parts).await?;
                walk.take(chunk, read);
            }
            let batch = walk.next(chunk);
            if batch.is_empty() {
                break;
            }
            (looked, chunk) = (looked + batch.len(), chunk * 4);
            let batch: Vec<_> = batch.into_iter().map(|(_, id)| id).filter(|id| !capped.contains_key(id)).collect();
            let bidders = look(self.app, self.occasion, &batch).await?.into_iter().flatten();
            let bidders = bidders.filter_map(|it| it.bidder(self.occasion).ok()).filter(|it| it.owner != self.viewer).collect();
            found.extend(self.visible(bidders).await?);
            found.sort_by_key(|(it, _)| Reverse((it.ecpm, it.share.campaign)));
            // Two campaigns may promote the same status.
            let mut statuses = HashSet::new();
            found.retain(|(_, seen)| statuses.insert(seen.status.id));
        }
        found.truncate(want);
        Ok(found)
    }

    /// Those whose statuses the viewer may see, and does not see anyway.
    async fn visible(&self, bidders: Vec<Bidder>) -> Result<Vec<(Bidder, Seen)>, Error> {
        let status = |it: &Bidder| if let Creative::Status(id) = it.ad.creative { Some(id) } else { None };
        let ids: Vec<StatusId> = bidders.iter().filter_map(status).filter(|id| !self.on_page.contains(id)).collect();
        let shown = statuses::shown(self.loaders, ids.iter().copied()).await?;
        let shown: HashMap<StatusId, Seen> = shown.into_iter().flatten().map(|seen| (seen.status.id, seen)).collect();
        let of = |it: Bidder| {
            let seen = shown.get(&status(&it)?)?.clone();
            (seen.status.author != self.viewer).then_some((it, seen))
        };
        Ok(bidders.into_iter().filter_map(of).collect())
    }

    async fn token(&self, secret: [u8; 16], ring: &Ring, bidder: &Bidder, price: Money, place: u64) -> Result<String, Error> {
        let mut hasher = SipHasher24::new_with_key(&secret);
        hasher.write(b"promotion");
        for part in [self.viewer.0, bidder.share.campaign.0, place] {
            hasher.write_u64(part);
        }
        let token = Token {
            purpose: Purpose::Promotion,
            share: bidder.share,
            ad: bidder.ad.id.number,
            impression: self.app.next_id().await?,
            visitor: Some(self.visitor),
            pricing: bidder.ad.pricing,
            price,
            at: self.occasion.now,
            day: self.occasion.now / DAY,
            place: self.viewer.0,
            nonce: hasher.finish().to_be_bytes(),
        };
        signing::sign(ring, &token)
    }
}
