//! What was counted: by day and in all, over all shares of a campaign.

use super::super::keys;
use super::super::model::{Money, Tally};
use super::campaigns::shares_of;
use crate::db::{Db, decode};
use crate::error::Error;
use crate::ids::{AdId, CampaignId};
use redis::{Cmd, Value, cmd};
use std::ops::RangeInclusive;

/// Fields of impressions, clicks, invalid clicks, spend.
const COUNTS: [&str; 4] = ["i", "c", "x", "s"];

fn decode_counts(reply: Value) -> Result<Tally, Error> {
    let numbers: Vec<Option<u64>> = decode::one(reply)?;
    let number = |at: usize| numbers.get(at).copied().flatten().unwrap_or(0);
    Ok(Tally { impressions: number(0), clicks: number(1), invalid: number(2), spent: Money(number(3)), reach: 0 })
}

/// Sums what several commands about each of some things tell.
async fn sums<T: Copy>(
    db: &Db,
    things: &[T],
    commands: impl Fn(T) -> Vec<Cmd>,
    read: impl Fn(usize, Value) -> Result<Tally, Error>,
) -> Result<Vec<Tally>, Error> {
    let asked: Vec<Vec<Cmd>> = things.iter().map(|thing| commands(*thing)).collect();
    let sizes: Vec<usize> = asked.iter().map(Vec::len).collect();
    let mut replies = db.read_many(asked.into_iter().flatten().collect()).await?.into_iter();
    let mut one =
        |size: usize| (0..size).try_fold(Tally::default(), |sum, at| Ok(sum.and(read(at, replies.next().unwrap_or_default())?)));
    sizes.into_iter().map(&mut one).collect()
}

/// Of each share a hash of counts, then of each a HyperLogLog.
fn counts_then_reach(shares: u64) -> impl Fn(usize, Value) -> Result<Tally, Error> {
    move |at, reply| {
        if at < shares as usize { decode_counts(reply) } else { Ok(Tally { reach: decode::one(reply)?, ..Tally::default() }) }
    }
}

/// What a campaign of so many shares has come to in all. One pipeline.
pub(in crate::ads) async fn whole_of_campaign(db: &Db, id: CampaignId, shares: u64) -> Result<Tally, Error> {
    let commands = |id| {
        let counts =
            shares_of(id, shares).map(|share| cmd("HMGET").arg(keys::share(share)).arg(&["i", "c", "x", "spent"]).take());
        counts.chain(shares_of(id, shares).map(|share| cmd("PFCOUNT").arg(keys::reach(share)).take())).collect()
    };
    Ok(sums(db, &[id], commands, counts_then_reach(shares)).await?.pop().unwrap_or_default())
}

/// What it has come to on each of these days. Pipelines of two commands a share and day.
pub(in crate::ads) async fn days_of_campaign(
    db: &Db,
    id: CampaignId,
    shares: u64,
    days: RangeInclusive<u64>,
) -> Result<Vec<(u64, Tally)>, Error> {
    let commands = |day| {
        let counts = shares_of(id, shares).map(move |share| cmd("HMGET").arg(keys::tally(share, day)).arg(&COUNTS).take());
        counts.chain(shares_of(id, shares).map(move |share| cmd("PFCOUNT").arg(keys::reached(share, day)).take())).collect()
    };
    let days: Vec<u64> = days.collect();
    let tallies = sums(db, &days, commands, counts_then_reach(shares)).await?;
    Ok(days.into_iter().zip(tallies).collect())
}

/// What an ad has come to on each of these days. Pipelines of one command a share and day.
pub(in crate::ads) async fn days_of_ad(
    db: &Db,
    id: AdId,
    shares: u64,
    days: RangeInclusive<u64>,
) -> Result<Vec<(u64, Tally)>, Error> {
    let fields = COUNTS.map(|field| format!("{}.{field}", id.number));
    let commands = |day| {
        let command = |share| cmd("HMGET").arg(keys::tally(share, day)).arg(&fields).take();
        shares_of(id.campaign, shares).map(command).collect()
    };
    let days: Vec<u64> = days.collect();
    let tallies = sums(db, &days, commands, |_, reply| decode_counts(reply)).await?;
    Ok(days.into_iter().zip(tallies).collect())
}
