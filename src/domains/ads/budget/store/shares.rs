//! Reads of the balances of shares, and their removal.

use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::{Db, decode};
use crate::domains::ads::budget::model::ShareBalance;
use crate::domains::ads::budget::store::counts::{FIELDS, tally};
use crate::domains::ads::keys;
use crate::domains::ads::model::{Money, Share, Slot};
use redis::{Cmd, Value, cmd};

/// The fields that stand before those of the tally, in the order of `decode_balance`.
const BALANCE: [&str; 4] = ["day", "spent", "held", "used"];

pub(in crate::domains::ads) fn balance_command(share: Share) -> Cmd {
    cmd("HMGET").arg(keys::share(share)).arg(&BALANCE).arg(&FIELDS).take()
}

pub(in crate::domains::ads) fn decode_balance(reply: Value) -> Result<ShareBalance, Error> {
    let numbers: Vec<Option<u64>> = decode::value(reply)?;
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or(0);
    Ok(ShareBalance {
        day: number(0),
        spent: Money(number(1)),
        reserved: Money(number(2)),
        committed: Money(number(3)),
        tally: tally(numbers.get(BALANCE.len()..).unwrap_or_default()),
    })
}

/// Returns the balances of a campaign's shares. One pipeline.
pub(in crate::domains::ads) async fn balances(db: &Db, campaign: CampaignId, shares: u64) -> Result<Vec<ShareBalance>, Error> {
    Ok(balances_of(db, &[(campaign, shares)]).await?.pop().unwrap_or_default())
}

/// Returns the balances of the shares of campaigns, each with its number of shares. One pipeline.
pub(in crate::domains::ads) async fn balances_of(
    db: &Db,
    campaigns: &[(CampaignId, u64)],
) -> Result<Vec<Vec<ShareBalance>>, Error> {
    let commands = campaigns.iter().flat_map(|(id, shares)| Share::all(*id, *shares).map(balance_command));
    let mut replies = db.read_many(commands.collect()).await?.into_iter();
    let mut of_one =
        |(_, shares): &(CampaignId, u64)| (0..*shares).map(|_| decode_balance(replies.next().unwrap_or_default())).collect();
    campaigns.iter().map(&mut of_one).collect()
}

/// Returns when the first hold of a campaign expires. One pipeline.
pub(in crate::domains::ads) async fn first_hold(db: &Db, campaign: CampaignId, shares: u64) -> Result<Option<Millis>, Error> {
    let command = |share| cmd("ZRANGE").arg(keys::holds(share)).arg(0).arg(0).arg("WITHSCORES").take();
    let replies = db.read_many(Share::all(campaign, shares).map(command).collect()).await?;
    let first = |reply| Ok(decode::value::<Vec<(Vec<u8>, f64)>>(reply)?.pop().map(|(_, at)| at as Millis));
    let all: Vec<Option<Millis>> = replies.into_iter().map(first).collect::<Result<_, Error>>()?;
    Ok(all.into_iter().flatten().min())
}

/// Deletes the shares of a campaign, with their tallies from the day of its creation on; their other keys have a time to live and expire. Pipelines
/// with eight commands for each share, and two for each share and day.
pub(in crate::domains::ads) async fn purge_shares(db: &Db, campaign: CampaignId, shares: u64, now: Millis) -> Result<(), Error> {
    let first = campaign.time() / DAY;
    let days = first..=(now / DAY).max(first);
    let keys = Share::all(campaign, shares).flat_map(|share| {
        let whole = [keys::share(share), keys::ad_stats(share), keys::holds(share), keys::reach(share)];
        let ranks = Slot::ALL.map(|slot| keys::rank(share, slot));
        let days = days.clone().flat_map(move |day| [keys::daily_stats(share, day), keys::daily_reach(share, day)]);
        whole.into_iter().chain(ranks).chain(days)
    });
    db.write_many(keys.map(|key| cmd("UNLINK").arg(key).take()).collect()).await.map(drop)
}
