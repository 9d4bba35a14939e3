//! Ads in Redis: their definitions and their tallies.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::ads::budget::store::counts::{FIELDS, tally};
use crate::domains::ads::campaigns::model::{Ad, Creative};
use crate::domains::ads::keys;
use crate::domains::ads::model::Share;
use crate::domains::ads::model::{MAX_ADS, MAX_ADS_WITH_REMOVED, Money, Pricing, REMOVED_AD_TTL, Slot, Tally};
use redis::cmd;

static ADD_AD: Script = Script::new(include_str!("../../lua/add_ad.lua"));
static REMOVE_AD: Script = Script::allow_oom(include_str!("../../lua/remove_ad.lua"));

/// The result of adding an ad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum AddAdResult {
    /// The ad exists, since now or before.
    Added,
    /// The campaign does not exist.
    NoCampaign,
    /// The ad existed, and was removed.
    Removed,
    /// The campaign has the maximum number of ads at one time.
    TooMany,
    /// The campaign has had the maximum number of ads, including removed ones.
    TooManyEver,
}

/// Adds an ad: the commit. One script on the campaign's hash tag.
pub(in crate::domains::ads) async fn add_ad(db: &Db, ad: &Ad) -> Result<AddAdResult, Error> {
    let campaign = ad.id.campaign;
    let keys = [keys::campaign(campaign), keys::ads(campaign), keys::ad(ad.id)];
    let call = Call::new(&ADD_AD, keys).arg(ad.id.number).arg(MAX_ADS).arg(MAX_ADS_WITH_REMOVED);
    let call = call.arg("id").arg(ad.id.number).arg("slot").arg(ad.slot.name());
    let call = call.arg("pricing").arg(ad.pricing.name()).arg("bid").arg(ad.bid.0);
    let call = match &ad.creative {
        Creative::Snippet { text, target } => call.arg("snippet").arg(text).arg("target").arg(target),
        Creative::Status(status) => call.arg("status").arg(status.0),
    };
    Ok(match db.call::<i64>(call).await? {
        1 => AddAdResult::Added,
        0 => AddAdResult::NoCampaign,
        -1 => AddAdResult::TooMany,
        -2 => AddAdResult::Removed,
        _ => AddAdResult::TooManyEver,
    })
}

/// Removes an ad from its campaign: the commit. Returns `false` if the ad does not exist. One script.
pub(in crate::domains::ads) async fn remove_ad(db: &Db, id: AdId, now: Millis) -> Result<bool, Error> {
    let keys = [keys::campaign(id.campaign), keys::ad(id), keys::ads(id.campaign)];
    db.call(Call::new(&REMOVE_AD, keys).arg(id.number).arg(now).arg(REMOVED_AD_TTL)).await
}

/// Reads windows of campaigns' ads. One pipeline.
pub(in crate::domains::ads) async fn ads_page(db: &Db, windows: &[(CampaignId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    let commands = windows.iter().map(|(campaign, window)| ranges::command(&keys::ads(*campaign), window)).collect();
    db.read_many(commands).await?.into_iter().map(decode::rows).collect()
}

/// Returns the ads of campaigns, the oldest first. One pipeline.
pub(in crate::domains::ads) async fn ad_ids(db: &Db, campaigns: &[CampaignId]) -> Result<Vec<Vec<AdId>>, Error> {
    let command = |id: &CampaignId| cmd("ZRANGE").arg(keys::ads(*id)).arg(0).arg(MAX_ADS - 1).take();
    let replies = db.read_many(campaigns.iter().map(command).collect()).await?;
    let ids = |(campaign, reply): (&CampaignId, _)| {
        let numbers: Vec<u64> = decode::value(reply)?;
        Ok(numbers.into_iter().map(|number| AdId { campaign: *campaign, number }).collect())
    };
    campaigns.iter().zip(replies).map(ids).collect()
}

/// An ad with its tally and its owner.
#[derive(Clone, Debug)]
pub struct AdDetails {
    /// The definition.
    pub ad: Ad,
    /// The tally over all shares.
    pub counts: Tally,
    /// The owner of the campaign; `None` if the campaign does not exist.
    pub owner: Option<UserId>,
    /// The number of shares of the campaign.
    pub shares: u64,
    /// Whether the ad was removed from its campaign.
    pub removed: bool,
}

/// Loads ads by id with their tallies, in the order of `ids`; `None` for an ad that does not exist. Two pipelines: the definitions, and the counts
/// of the shares.
pub(in crate::domains::ads) async fn load_ads(db: &Db, ids: &[AdId]) -> Result<Vec<Option<AdDetails>>, Error> {
    let of_one = |id: &AdId| {
        let of_campaign = cmd("HMGET").arg(keys::campaign(id.campaign)).arg(&["uid", "shares"]).take();
        [cmd("HGETALL").arg(keys::ad(*id)).take(), of_campaign]
    };
    let mut replies = db.read_many(ids.iter().flat_map(of_one).collect()).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let (ad, campaign) = (decode_ad(*id, reply())?, decode::value::<(Option<u64>, Option<u64>)>(reply())?);
        let (owner, shares) = (campaign.0.map(UserId), campaign.1.unwrap_or(0));
        found.push(ad.map(|(ad, removed)| AdDetails { ad, counts: Tally::default(), owner, shares, removed }));
    }
    count(db, &mut found).await?;
    Ok(found)
}

/// Sums the counts of ads over all shares. One pipeline.
async fn count(db: &Db, ads: &mut [Option<AdDetails>]) -> Result<(), Error> {
    let of_one = |it: &AdDetails| {
        let (id, shares) = (it.ad.id, it.shares);
        let fields = FIELDS.map(|field| format!("{}:{field}", id.number));
        Share::all(id.campaign, shares).map(move |share| cmd("HMGET").arg(keys::ad_stats(share)).arg(&fields).take())
    };
    let mut replies = db.read_many(ads.iter().flatten().flat_map(of_one).collect()).await?.into_iter();
    for it in ads.iter_mut().flatten() {
        for _ in 0..it.shares {
            let numbers: Vec<Option<u64>> = decode::value(replies.next().unwrap_or_default())?;
            it.counts = it.counts.plus(tally(&numbers));
        }
    }
    Ok(())
}

/// Decodes the fields of an ad, and whether the ad was removed; `None` for an ad that does not exist or has no valid slot, pricing or creative.
pub(in crate::domains::ads) fn decode_ad(id: AdId, reply: redis::Value) -> Result<Option<(Ad, bool)>, Error> {
    let (mut slot, mut pricing, mut bid, mut removed) = (None, None, 0, false);
    let (mut snippet, mut target, mut status) = (None, None, None);
    decode::fields(reply, |name, value| {
        match name {
            "slot" => slot = Slot::from_name(&value.0),
            "pricing" => pricing = Pricing::from_name(&value.0),
            "bid" => bid = value.number()?,
            "snippet" => snippet = Some(value.0),
            "target" => target = Some(value.0),
            "status" => status = Some(StatusId(value.number()?)),
            "removed" => removed = true,
            _ => {}
        }
        Ok(())
    })?;
    let creative = match (snippet, target, status) {
        (Some(text), Some(target), None) => Some(Creative::Snippet { text, target }),
        (None, None, Some(status)) => Some(Creative::Status(status)),
        _ => None,
    };
    let whole = slot.zip(pricing).zip(creative);
    Ok(whole.map(|((slot, pricing), creative)| (Ad { id, slot, creative, pricing, bid: Money(bid) }, removed)))
}

/// Returns the definitions of ads by id; `None` for an ad that does not exist. One pipeline.
pub(in crate::domains::ads) async fn definitions(db: &Db, ids: &[AdId]) -> Result<Vec<Option<Ad>>, Error> {
    let replies = db.read_many(ids.iter().map(|id| cmd("HGETALL").arg(keys::ad(*id)).take()).collect()).await?;
    ids.iter().zip(replies).map(|(id, reply)| Ok(decode_ad(*id, reply)?.map(|(ad, _)| ad))).collect()
}
