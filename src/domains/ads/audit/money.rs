//! Checks a campaign's money: the spend matches the counts, the held amount matches the holds, and the budget is not exceeded.

use super::super::keys;
use super::super::model::{LifetimeSum, Share};
use crate::base::audit::Findings;
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::audit_reader::AuditReader;
use crate::db::script::{Call, Script};
use redis::cmd;
use std::collections::HashMap;

static SUM_SHARE: Script = Script::new(include_str!("../lua/sum_share.lua"));
/// The number of days whose counts have certainly not expired.
const COMPLETE_DAYS: u64 = 399;
/// Maximum number of holds of a share to sum: a script must not block Redis for long.
const MAX_HOLDS: u64 = 100_000;

/// The numeric fields of the hash of a campaign.
struct Pool(HashMap<String, LifetimeSum>);

impl Pool {
    async fn read(reader: &AuditReader, id: CampaignId) -> Result<Self, Error> {
        let reply = reader.query([id], |id| cmd("HGETALL").arg(keys::campaign(id)).take()).await?;
        let fields: HashMap<String, String> = reply.read(&id).unwrap_or_default();
        Ok(Self(fields.into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect()))
    }

    fn field(&self, name: &str) -> LifetimeSum {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn share_field(&self, name: &str, n: u64) -> LifetimeSum {
        self.field(&format!("{name}{n}"))
    }
}

/// Checks the money of a campaign and its shares.
pub(super) async fn check(reader: &AuditReader, id: CampaignId, found: &mut Findings) -> Result<(), Error> {
    let key = keys::campaign(id);
    // Granted and returned sums only grow, and the share is read between two reads of the pool. So even under load, the share has received at most
    // what the second read of the pool shows as granted, and has returned at least what the first read shows as returned.
    let before = Pool::read(reader, id).await?;
    let shares: Vec<Share> = (0..before.field("shares") as u64).map(|n| Share { campaign: id, n }).collect();
    let first = id.time() / DAY;
    let days: Vec<u64> = (first.max((reader.now() / DAY).saturating_sub(COMPLETE_DAYS))..=reader.now() / DAY).collect();
    let call = |share: &Share| {
        let own = [keys::share(*share), keys::ad_stats(*share), keys::holds(*share)];
        let keys: Vec<String> = own.into_iter().chain(days.iter().map(|day| keys::daily_stats(*share, *day))).collect();
        Call::with_keys(&SUM_SHARE, keys).arg(MAX_HOLDS)
    };
    let replies: Vec<Option<Vec<LifetimeSum>>> = reader.call(shares.iter().map(call).collect()).await?;
    let after = Pool::read(reader, id).await?;
    let (mut taken, mut out) = (0, 0);
    for (share, sums) in shares.iter().zip(&replies) {
        out += after.share_field("g", share.n).saturating_sub(after.share_field("r", share.n));
        let Some(sums) = sums.as_deref().filter(|sums| sums.len() == 21) else {
            found.add(&key, format!("{}: its money is not a number, or negative", keys::share(*share)));
            continue;
        };
        taken += sums[2] + sums[3];
        let are_days_complete = first + COMPLETE_DAYS > reader.now() / DAY;
        check_share(*share, sums, are_days_complete, found);
        if sums[0] > after.share_field("g", share.n) || sums[1] < before.share_field("r", share.n) {
            let problem = "has more than it was granted, or has returned less than the pool has booked";
            found.add(&key, format!("{}: {problem}", keys::share(*share)));
        }
    }
    let sums = [("spent and held is more than the budget", taken, after.field("budget"))];
    let pool = [("out is not the sum granted and not returned", after.field("out"), out)];
    for (problem, is, most) in sums.into_iter().filter(|(_, is, most)| is > most) {
        found.add_with(&key, problem, format!("{is}, not {most}"));
    }
    for (problem, is, should) in pool.into_iter().filter(|(_, is, should)| is != should) {
        found.add_with(&key, problem, format!("{is}, not {should}"));
    }
    if after.field("out") > after.field("budget") {
        found.add(&key, "has granted more than the budget");
    }
    Ok(())
}

/// Checks the fields of a share against the sums over its ads and its holds, and over its days if the counts of all days still exist.
fn check_share(share: Share, sums: &[LifetimeSum], are_days_complete: bool, found: &mut Findings) {
    // Findings name the campaign, because a second check of the campaign includes its shares.
    let (key, share_key) = (keys::campaign(share.campaign), keys::share(share));
    let [granted, returned, spent, held, shown, clicked, invalid] = [0, 1, 2, 3, 4, 5, 6].map(|at: usize| sums[at]);
    let [invalid_shown, reasons] = [sums[16], sums[19]];
    if granted < returned + spent + held {
        found.add_with(
            &key,
            format!("{share_key}: has spent more than it was granted"),
            format!("{granted}, {returned}, {spent}, {held}"),
        );
    }
    let mut pairs = vec![
        ("spent is not the spend of its ads", spent, sums[7]),
        ("i is not the number of impressions of its ads", shown, sums[8]),
        ("c is not the number of valid clicks of its ads", clicked, sums[9]),
        ("x is not the number of invalid clicks of its ads", invalid, sums[15]),
        ("y is not the number of invalid impressions of its ads", invalid_shown, sums[17]),
        ("the reasons of x are not those of its ads", reasons, sums[20]),
        ("held is not the sum of its holds", held, sums[10]),
    ];
    if are_days_complete {
        pairs.extend([
            ("i is not the sum of its days", shown, sums[11]),
            ("c is not the sum of its days", clicked, sums[12]),
            ("x is not the sum of its days", invalid, sums[13]),
            ("y is not the sum of its days", invalid_shown, sums[18]),
            ("spent is not the sum of its days", spent, sums[14]),
        ]);
    }
    if reasons > invalid {
        found.add_with(&key, format!("{share_key}: x is less than the sum of its reasons"), format!("{invalid}, {reasons}"));
    }
    for (problem, is, should) in pairs.into_iter().filter(|(_, is, should)| is != should) {
        found.add_with(&key, format!("{share_key}: {problem}"), format!("{is}, not {should}"));
    }
}
