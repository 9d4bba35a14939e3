//! What the shares of a campaign hold, and what a decision finds there.

use super::super::keys;
use super::super::model::{Campaign, Facts, Money, Purse, Share, Slot};
use super::campaigns::shares_of;
use super::reports::{FIELDS, tally};
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};

static FORGET_SHARE: Script = Script::new(include_str!("../lua/forget_share.lua"));
static WRITE_SHARE: Script = Script::allow_oom(include_str!("../lua/write_share.lua"));

/// Copies a campaign's definition and the order of its ads to its shares, over an older copy. One script a share, in one pipeline.
pub(in crate::domains::ads) async fn write_shares(db: &Db, facts: &Facts) -> Result<(), Error> {
    let it = &facts.campaign;
    let off = it.paused || it.stopped || it.suspended;
    let cap = it.cap.map_or((0, 0), |cap| (cap.impressions, cap.per_seconds));
    let call = |share: Share| {
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        let keys = [keys::share(share), keys::offered(share)].into_iter().chain(ranks).collect::<Vec<_>>();
        let call = Call::with_keys(&WRITE_SHARE, keys).arg(it.version).arg(u8::from(off));
        let call = call.arg(it.starts.unwrap_or(0)).arg(it.ends.unwrap_or(0)).arg(cap.0).arg(cap.1);
        facts.ads.iter().fold(call, |call, entry| {
            let ad = &entry.0;
            let slot = Slot::ALL.iter().position(|slot| *slot == ad.slot).unwrap_or_default() + 1;
            let terms = format!("{} {}", ad.pricing.name(), ad.bid.in_millionths());
            call.arg(ad.id.number).arg(slot).arg(Facts::ecpm(entry)).arg(terms)
        })
    };
    db.call_many(shares_of(it.id, it.shares).map(call).collect()).await.map(drop)
}

/// What stands before the fields of a tally, as [`decode_purse`] takes them.
const PURSE: [&str; 4] = ["day", "spent", "held", "used"];

pub(super) fn purse_command(share: Share) -> Cmd {
    cmd("HMGET").arg(keys::share(share)).arg(&PURSE).arg(&FIELDS).take()
}

pub(super) fn decode_purse(reply: Value) -> Result<Purse, Error> {
    let numbers: Vec<Option<u64>> = decode::one(reply)?;
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or(0);
    Ok(Purse {
        day: number(0),
        spent: Money(number(1)),
        held: Money(number(2)),
        used: Money(number(3)),
        tally: tally(numbers.get(PURSE.len()..).unwrap_or_default()),
    })
}

/// What the shares of a campaign have. One pipeline.
pub(in crate::domains::ads) async fn purses(db: &Db, campaign: &Campaign) -> Result<Vec<Purse>, Error> {
    Ok(purses_of(db, &[(campaign.id, campaign.shares)]).await?.pop().unwrap_or_default())
}

/// What the shares of campaigns have, each with how many there are. One pipeline.
pub(super) async fn purses_of(db: &Db, campaigns: &[(CampaignId, u64)]) -> Result<Vec<Vec<Purse>>, Error> {
    let commands = campaigns.iter().flat_map(|(id, shares)| shares_of(*id, *shares).map(purse_command));
    let mut replies = db.read_many(commands.collect()).await?.into_iter();
    let mut of_one =
        |(_, shares): &(CampaignId, u64)| (0..*shares).map(|_| decode_purse(replies.next().unwrap_or_default())).collect();
    campaigns.iter().map(&mut of_one).collect()
}

/// When the first of the money that waits for clicks comes back. One pipeline.
pub(in crate::domains::ads) async fn first_hold(db: &Db, campaign: &Campaign) -> Result<Option<Millis>, Error> {
    let command = |share| cmd("ZRANGE").arg(keys::holds(share)).arg(0).arg(0).arg("WITHSCORES").take();
    let replies = db.read_many(shares_of(campaign.id, campaign.shares).map(command).collect()).await?;
    let first = |reply| Ok(decode::one::<Vec<(Vec<u8>, f64)>>(reply)?.pop().map(|(_, at)| at as Millis));
    let all: Vec<Option<Millis>> = replies.into_iter().map(first).collect::<Result<_, Error>>()?;
    Ok(all.into_iter().flatten().min())
}

/// Takes away the shares of a campaign, with what they have counted on each day from `first` on; what visitors have seen goes by
/// itself. Pipelines of one command a share and day.
pub(in crate::domains::ads) async fn erase_shares(db: &Db, campaign: &Campaign, now: Millis) -> Result<(), Error> {
    let first = campaign.id.time() / DAY;
    let days = first..=(now / DAY).max(first);
    let keys = shares_of(campaign.id, campaign.shares).flat_map(|share| {
        let whole = [keys::share(share), keys::offered(share), keys::holds(share), keys::reach(share)];
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        let days = days.clone().flat_map(move |day| [keys::tally(share, day), keys::reached(share, day)]);
        whole.into_iter().chain(ranks).chain(days)
    });
    db.write_many(keys.map(|key| cmd("UNLINK").arg(key).take()).collect()).await.map(drop)
}

/// Takes away what somebody was late to write to shares of a campaign that is gone. One script a share, in one pipeline.
pub(in crate::domains::ads) async fn forget_shares(db: &Db, id: CampaignId, shares: u64) -> Result<(), Error> {
    let call = |share: Share| {
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        Call::with_keys(&FORGET_SHARE, [keys::share(share), keys::offered(share)].into_iter().chain(ranks).collect::<Vec<_>>())
    };
    db.call_many(shares_of(id, shares).map(call).collect()).await.map(drop)
}
