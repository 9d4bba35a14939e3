//! Grants from a campaign's pool to its shares, and returns.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::budget::store::reservations::{Grant, ReturnedMoney};
use crate::domains::ads::keys;
use crate::domains::ads::model::{FREEZE_TTL, LifetimeSum, Money, Share};
use redis::cmd;

const SUMS_PRELUDE: &str = include_str!("../../lua/sums.lua");
static GRANT_BUDGET: Script = Script::after(SUMS_PRELUDE, include_str!("../../lua/grant_budget.lua"));

/// A share's request for a grant.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct GrantRequest {
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) day: u64,
    /// The sum of all grants that the share has received.
    pub(in crate::domains::ads) granted: LifetimeSum,
    /// The money that the share needs; zero to report returned money only.
    pub(in crate::domains::ads) want: Money,
    /// The unit of a grant: a grant of more than `want` is a multiple of it.
    pub(in crate::domains::ads) unit: Money,
    /// The sums that shares of the campaign have returned.
    pub(in crate::domains::ads) returned: Vec<ReturnedMoney>,
}

/// The result of a grant request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum GrantResult {
    /// The sum of all grants to the share.
    Granted(Grant),
    /// The pool can grant only this amount now.
    Refused(Money),
    /// The campaign does not exist.
    NoCampaign,
}

/// Requests grants for shares, and reports returned money to the pools. One pipeline of scripts.
pub(in crate::domains::ads) async fn request(db: &Db, now: Millis, requests: &[GrantRequest]) -> Result<Vec<GrantResult>, Error> {
    let call = |request: &GrantRequest| {
        let call = Call::new(&GRANT_BUDGET, [keys::campaign(request.share.campaign), keys::freeze(request.share.campaign)]);
        let call = call.arg(now).arg(request.day).arg(request.share.n);
        let call = call.arg(request.granted).arg(request.want.0).arg(request.unit.0.max(1));
        request.returned.iter().fold(call, |call, it| call.arg(it.n).arg(it.total).arg(it.day).arg(it.day_total))
    };
    let replies = db.call_many(requests.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| decode_grant(&decode::value::<String>(reply)?)).collect()
}

fn decode_grant(reply: &str) -> Result<GrantResult, Error> {
    let mut words = reply.split(' ');
    let (kind, numbers) = (words.next(), words.map(str::parse).collect::<Result<Vec<LifetimeSum>, _>>());
    match (kind, &numbers.map_err(Error::corrupt)?[..]) {
        (Some("granted"), &[all, before, day]) => {
            Ok(GrantResult::Granted(Grant { total: all, before_day: before, day: to_u64(day)? }))
        }
        (Some("refused"), &[free, _]) => Ok(GrantResult::Refused(Money(to_u64(free)?))),
        (Some("gone"), _) => Ok(GrantResult::NoCampaign),
        _ => Err(Error::corrupt("an unknown reply of grant_budget")),
    }
}

fn to_u64(number: LifetimeSum) -> Result<u64, Error> {
    u64::try_from(number).map_err(Error::corrupt)
}

/// Freezes the pool of a campaign: it grants nothing until its change is made, for at most [`FREEZE_TTL`]. Returns the token of the freeze.
/// One command.
pub(in crate::domains::ads) async fn freeze(db: &Db, campaign: CampaignId) -> Result<u64, Error> {
    let token: u64 = rand::random();
    let command = cmd("SET").arg(keys::freeze(campaign)).arg(token).arg("PX").arg(FREEZE_TTL).take();
    db.write_many_allow_oom(vec![command]).await.map(|_| token)
}

/// Ends the freeze. One command.
pub(in crate::domains::ads) async fn unfreeze(db: &Db, campaign: CampaignId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::freeze(campaign)).take()]).await.map(drop)
}

/// Returns the sums that the pool of a campaign has granted to each share. One command.
pub(in crate::domains::ads) async fn grants(db: &Db, campaign: CampaignId, shares: u64) -> Result<Vec<(Share, Grant)>, Error> {
    let mut read = cmd("HMGET");
    read.arg(keys::campaign(campaign)).arg("day");
    for n in 0..shares {
        read.arg(format!("g{n}")).arg(format!("b{n}"));
    }
    let found: Vec<Option<LifetimeSum>> = db.read(read).await?;
    let number = |at: usize| found.get(at).copied().flatten().unwrap_or_default();
    let day = to_u64(number(0))?;
    let one = |n: u64| {
        let at = 1 + 2 * n as usize;
        (Share { campaign, n }, Grant { total: number(at), before_day: number(at + 1), day })
    };
    Ok((0..shares).map(one).collect())
}

/// Returns the number of shares of campaigns, which never changes; `None` for a campaign that does not exist. One pipeline.
pub(in crate::domains::ads) async fn shares_of(db: &Db, campaigns: &[CampaignId]) -> Result<Vec<Option<u64>>, Error> {
    let commands = campaigns.iter().map(|id| cmd("HGET").arg(keys::campaign(*id)).arg("shares").take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value).collect()
}
