//! Who waits for a slot, best first; and of whom a visitor has seen enough.

use super::super::keys;
use super::super::model::{Ad, Ecpm, Listing, MAX_ADS, MAX_CAPPED, Share, Slot, Visitor, of_member};
use super::ads::decode_ad;
use super::traffic::{VOLUME, Volume, at_address_command, decode_at_address};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, UserId, WebsiteId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};
use std::collections::HashMap;

static NOTE_CAPPED: Script = Script::new(include_str!("../lua/note_capped.lua"));

/// A part of a listing: from an eCPM down, past so many that have that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::domains::ads) struct Part {
    pub(in crate::domains::ads) listing: Listing,
    pub(in crate::domains::ads) from: Option<Ecpm>,
    pub(in crate::domains::ads) past: usize,
    pub(in crate::domains::ads) limit: usize,
}

/// Campaigns with the eCPM of their best ad, best first, of equals the newer one.
pub(in crate::domains::ads) type Offers = Vec<(Ecpm, CampaignId)>;

/// Whoever shows ads, as far as a decision must know.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::domains::ads) enum Shop {
    Open {
        owner: UserId,
        /// The version of the server key that it requires; 0 where it requires none.
        server_key: u64,
        volume: Volume,
    },
    /// An operator holds its owner back.
    Suspended,
    NotThere,
}

/// What a decision begins with.
pub(in crate::domains::ads) struct Opening {
    pub(in crate::domains::ads) shop: Shop,
    /// The impressions of the address in this hour.
    pub(in crate::domains::ads) at_address: u64,
    /// Of whom the visitor has seen enough, and until when.
    pub(in crate::domains::ads) capped: HashMap<CampaignId, Millis>,
    pub(in crate::domains::ads) offers: Vec<Offers>,
}

/// Reads what a decision begins with. One pipeline.
pub(in crate::domains::ads) async fn open(
    db: &Db,
    now: Millis,
    website: WebsiteId,
    visitor: Option<Visitor>,
    address: Option<Visitor>,
    parts: &[Part],
) -> Result<Opening, Error> {
    let mut commands = vec![cmd("HMGET").arg(keys::website(website)).arg(&["uid", "off", "key"]).arg(&VOLUME).take()];
    commands.extend(parts.iter().map(range));
    commands.extend(address.map(at_address_command));
    commands.extend(visitor.map(|visitor| capped(visitor, now)));
    let mut replies = db.read_many(commands).await?.into_iter();
    let shop = shop(&decode::one::<Vec<Option<String>>>(replies.next().unwrap_or_default())?);
    let offers = parts.iter().map(|_| offers(replies.next().unwrap_or_default())).collect::<Result<_, _>>()?;
    let at_address = match address {
        Some(_) => decode_at_address(replies.next().unwrap_or_default(), now)?,
        None => 0,
    };
    let capped = replies.next().map(of_capped).transpose()?.unwrap_or_default();
    Ok(Opening { shop, at_address, capped, offers })
}

fn shop(values: &[Option<String>]) -> Shop {
    let value = |at: usize| values.get(at).and_then(Option::as_deref);
    match (value(0), value(1)) {
        (None, _) => Shop::NotThere,
        (_, Some("1")) => Shop::Suspended,
        (Some(owner), _) => {
            let owner = UserId(owner.parse().unwrap_or(0));
            let server_key = value(2).and_then(|version| version.parse().ok()).unwrap_or(0);
            Shop::Open { owner, server_key, volume: Volume::decode(values.get(3..).unwrap_or_default()) }
        }
    }
}

/// Reads listings on. One pipeline.
pub(in crate::domains::ads) async fn read(db: &Db, parts: &[Part]) -> Result<Vec<Offers>, Error> {
    db.read_many(parts.iter().map(range).collect()).await?.into_iter().map(offers).collect()
}

/// The same with those of whom the visitor has seen enough.
pub(in crate::domains::ads) async fn read_for(
    db: &Db,
    now: Millis,
    visitor: Visitor,
    parts: &[Part],
) -> Result<(Vec<Offers>, HashMap<CampaignId, Millis>), Error> {
    let commands = parts.iter().map(range).chain([capped(visitor, now)]).collect();
    let mut replies = db.read_many(commands).await?;
    let capped = of_capped(replies.pop().unwrap_or_default())?;
    Ok((replies.into_iter().map(offers).collect::<Result<_, _>>()?, capped))
}

fn range(part: &Part) -> Cmd {
    let mut range = cmd("ZRANGE");
    range.arg(keys::offers(&part.listing));
    let Some(from) = part.from else {
        return range.arg(part.past).arg((part.past + part.limit).saturating_sub(1)).arg("REV").arg("WITHSCORES").take();
    };
    range.arg(from).arg("-inf").arg("BYSCORE").arg("REV");
    range.arg("LIMIT").arg(part.past).arg(part.limit).arg("WITHSCORES").take()
}

fn offers(reply: Value) -> Result<Offers, Error> {
    let pairs: Vec<(Vec<u8>, f64)> = decode::one(reply)?;
    let one = |(member, ecpm): (Vec<u8>, f64)| Some((ecpm as Ecpm, of_member(&member)?));
    pairs.into_iter().map(|pair| one(pair).ok_or_else(|| Error::corrupt("an offer of no campaign"))).collect()
}

fn capped(visitor: Visitor, now: Millis) -> Cmd {
    let mut range = cmd("ZRANGE");
    range.arg(keys::capped(visitor)).arg(format!("({now}")).arg("+inf").arg("BYSCORE");
    range.arg("LIMIT").arg(0).arg(MAX_CAPPED).arg("WITHSCORES").take()
}

fn of_capped(reply: Value) -> Result<HashMap<CampaignId, Millis>, Error> {
    Ok(decode::rows(reply)?.into_iter().map(|row| (CampaignId(row.member), row.position)).collect())
}

/// Notes of whom a visitor has seen enough. One script; none costs nothing.
pub(in crate::domains::ads) async fn note_capped(
    db: &Db,
    now: Millis,
    visitor: Visitor,
    capped: &[(CampaignId, Millis)],
) -> Result<(), Error> {
    let Some(last) = capped.iter().map(|(_, until)| *until).max().filter(|last| *last > now) else { return Ok(()) };
    let call = Call::new(&NOTE_CAPPED, [keys::capped(visitor)]).arg(now).arg(MAX_CAPPED).arg(last);
    let call = capped.iter().fold(call, |call, (campaign, until)| call.arg(*until).arg(campaign.0));
    db.call_untracked(vec![call]).await.map(drop)
}

/// What ads are, by id; `None` for what is not there. One pipeline.
pub(in crate::domains::ads) async fn ads(db: &Db, ids: &[AdId]) -> Result<Vec<Option<Ad>>, Error> {
    let replies = db.read_many(ids.iter().map(|id| cmd("HGETALL").arg(keys::ad(*id)).take()).collect()).await?;
    ids.iter().zip(replies).map(|(id, reply)| Ok(decode_ad(*id, reply)?.map(|(ad, _)| ad))).collect()
}

/// The ads of shares in a slot with their eCPM, best first. One pipeline.
pub(in crate::domains::ads) async fn ranks(db: &Db, slot: Slot, shares: &[Share]) -> Result<Vec<Vec<(u64, Ecpm)>>, Error> {
    let rank =
        |share: &Share| cmd("ZRANGE").arg(keys::rank(*share, slot)).arg(0).arg(MAX_ADS - 1).arg("REV").arg("WITHSCORES").take();
    let replies = db.read_many(shares.iter().map(rank).collect()).await?;
    let pairs = |reply| Ok(decode::rows(reply)?.into_iter().map(|row| (row.member, row.position)).collect());
    replies.into_iter().map(pairs).collect()
}
