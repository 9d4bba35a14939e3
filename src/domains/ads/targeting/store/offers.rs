//! Offers of a slot, best first, and the capped campaigns of a visitor.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{Ecpm, Listing, MAX_ADS, Share, Slot, Visitor, from_member};
use crate::domains::ads::targeting::store::frequency_caps::{capped_command, decode_capped};
use redis::{Cmd, Value, cmd};
use std::collections::HashMap;

/// A range of a listing: downwards from an eCPM, after a number of offers with that eCPM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::domains::ads) struct OfferRange {
    pub(in crate::domains::ads) listing: Listing,
    pub(in crate::domains::ads) from: Option<Ecpm>,
    pub(in crate::domains::ads) offset: usize,
    pub(in crate::domains::ads) limit: usize,
}

/// Campaigns with the eCPM of their best ad, the highest first; of equal ones the newer campaign first.
pub(in crate::domains::ads) type Offers = Vec<(Ecpm, CampaignId)>;

/// Reads ranges of listings. One pipeline.
pub(in crate::domains::ads) async fn read(db: &Db, ranges: &[OfferRange]) -> Result<Vec<Offers>, Error> {
    db.read_many(ranges.iter().map(offers_command).collect()).await?.into_iter().map(decode_offers).collect()
}

/// Reads ranges of listings, and the campaigns whose cap the visitor has reached. One pipeline.
pub(in crate::domains::ads) async fn read_for(
    db: &Db,
    now: Millis,
    visitor: Visitor,
    ranges: &[OfferRange],
) -> Result<(Vec<Offers>, HashMap<CampaignId, Millis>), Error> {
    let commands = ranges.iter().map(offers_command).chain([capped_command(visitor, now)]).collect();
    let mut replies = db.read_many(commands).await?;
    let capped = decode_capped(replies.pop().unwrap_or_default())?;
    Ok((replies.into_iter().map(decode_offers).collect::<Result<_, _>>()?, capped))
}

pub(in crate::domains::ads) fn offers_command(range: &OfferRange) -> Cmd {
    let mut command = cmd("ZRANGE");
    command.arg(keys::offers(&range.listing));
    let Some(from) = range.from else {
        return command.arg(range.offset).arg((range.offset + range.limit).saturating_sub(1)).arg("REV").arg("WITHSCORES").take();
    };
    command.arg(from).arg("-inf").arg("BYSCORE").arg("REV");
    command.arg("LIMIT").arg(range.offset).arg(range.limit).arg("WITHSCORES").take()
}

pub(in crate::domains::ads) fn decode_offers(reply: Value) -> Result<Offers, Error> {
    let pairs: Vec<(Vec<u8>, f64)> = decode::value(reply)?;
    let offer = |(member, ecpm): (Vec<u8>, f64)| Some((ecpm as Ecpm, from_member(&member)?));
    pairs.into_iter().map(|pair| offer(pair).ok_or_else(|| Error::corrupt("an offer of no campaign"))).collect()
}

/// Reads the ads of shares in a slot with their eCPM, best first. One pipeline.
pub(in crate::domains::ads) async fn ranks(db: &Db, slot: Slot, shares: &[Share]) -> Result<Vec<Vec<(u64, Ecpm)>>, Error> {
    let rank =
        |share: &Share| cmd("ZRANGE").arg(keys::rank(*share, slot)).arg(0).arg(MAX_ADS - 1).arg("REV").arg("WITHSCORES").take();
    let replies = db.read_many(shares.iter().map(rank).collect()).await?;
    let pairs = |reply| Ok(decode::rows(reply)?.into_iter().map(|row| (row.member, row.position)).collect());
    replies.into_iter().map(pairs).collect()
}
