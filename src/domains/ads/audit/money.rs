//! The money of a campaign: what is spent is what was shown and clicked, what is held waits for clicks, and it is never more than the budget.

use super::super::keys;
use super::super::model::{Share, Sum};
use crate::base::audit::Findings;
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::audit_reader::AuditReader;
use crate::db::script::{Call, Script};
use redis::cmd;
use std::collections::HashMap;

static WEIGH_SHARE: Script = Script::new(include_str!("../lua/weigh_share.lua"));
/// For how long counts of days are there in full.
const IN_FULL: u64 = 399;
/// Holds of a share that are summed: a script that takes longer would keep Redis from others.
const MAX_HOLDS: u64 = 100_000;

/// What a campaign's own hash says.
struct Pool(HashMap<String, Sum>);

impl Pool {
    async fn read(reader: &AuditReader, id: CampaignId) -> Result<Self, Error> {
        let answer = reader.query([id], |id| cmd("HGETALL").arg(keys::campaign(id)).take()).await?;
        let fields: HashMap<String, String> = answer.read(&id).unwrap_or_default();
        Ok(Self(fields.into_iter().filter_map(|(name, value)| Some((name, value.parse().ok()?))).collect()))
    }

    fn of(&self, name: &str) -> Sum {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn of_share(&self, name: &str, n: u64) -> Sum {
        self.of(&format!("{name}{n}"))
    }
}

pub(super) async fn check(reader: &AuditReader, id: CampaignId, found: &mut Findings) -> Result<(), Error> {
    let key = keys::campaign(id);
    // What is granted and returned only grows: a share read between two looks at the pool lies between them, however many work on both.
    let before = Pool::read(reader, id).await?;
    let shares: Vec<Share> = (0..before.of("shares") as u64).map(|n| Share { campaign: id, n }).collect();
    let first = id.time() / DAY;
    let days: Vec<u64> = (first.max((reader.now() / DAY).saturating_sub(IN_FULL))..=reader.now() / DAY).collect();
    let call = |share: &Share| {
        let own = [keys::share(*share), keys::offered(*share), keys::holds(*share)];
        let keys: Vec<String> = own.into_iter().chain(days.iter().map(|day| keys::tally(*share, *day))).collect();
        Call::with_keys(&WEIGH_SHARE, keys).arg(MAX_HOLDS)
    };
    let weighed: Vec<Option<Vec<Sum>>> = reader.call(shares.iter().map(call).collect()).await?;
    let after = Pool::read(reader, id).await?;
    let (mut taken, mut out) = (0, 0);
    for (share, weights) in shares.iter().zip(&weighed) {
        out += after.of_share("g", share.n).saturating_sub(after.of_share("r", share.n));
        let Some(weights) = weights.as_deref().filter(|weights| weights.len() == 21) else {
            found.add(&key, format!("{}: its money is no number, or below nothing", keys::share(*share)));
            continue;
        };
        taken += weights[2] + weights[3];
        let whole = first + IN_FULL > reader.now() / DAY;
        check_share(*share, weights, whole, found);
        if weights[0] > after.of_share("g", share.n) || weights[1] < before.of_share("r", share.n) {
            let what = "has more than it was granted, or has given back less than is known";
            found.add(&key, format!("{}: {what}", keys::share(*share)));
        }
    }
    let sums = [("spent and held is more than the budget", taken, after.of("budget"))];
    let pool = [("out is not what is granted and not given back", after.of("out"), out)];
    for (what, is, most) in sums.into_iter().filter(|(_, is, most)| is > most) {
        found.add_with(&key, what, format!("{is}, not {most}"));
    }
    for (what, is, should) in pool.into_iter().filter(|(_, is, should)| is != should) {
        found.add_with(&key, what, format!("{is}, not {should}"));
    }
    if after.of("out") > after.of("budget") {
        found.add(&key, "has granted more than the budget");
    }
    Ok(())
}

/// What a share says of itself, against what its ads, its holds and its days come to.
fn check_share(share: Share, weights: &[Sum], whole: bool, found: &mut Findings) {
    // What is found is told of the campaign: looking at that again looks at all of it.
    let (key, of) = (keys::campaign(share.campaign), keys::share(share));
    let [granted, returned, spent, held, shown, clicked, invalid] = [0, 1, 2, 3, 4, 5, 6].map(|at: usize| weights[at]);
    let [invalid_shown, reasons] = [weights[16], weights[19]];
    if granted < returned + spent + held {
        found.add_with(
            &key,
            format!("{of}: has spent what it was not granted"),
            format!("{granted}, {returned}, {spent}, {held}"),
        );
    }
    let mut pairs = vec![
        ("spent is not what its ads have cost", spent, weights[7]),
        ("i is not how often its ads were shown", shown, weights[8]),
        ("c is not how often its ads were clicked", clicked, weights[9]),
        ("x is not how often its ads were clicked in vain", invalid, weights[15]),
        ("y is not how often its ads were shown invalidly", invalid_shown, weights[17]),
        ("the reasons of x are not those of its ads", reasons, weights[20]),
        ("held is not what waits for clicks", held, weights[10]),
    ];
    if whole {
        pairs.extend([
            ("i is not what its days come to", shown, weights[11]),
            ("c is not what its days come to", clicked, weights[12]),
            ("x is not what its days come to", invalid, weights[13]),
            ("y is not what its days come to", invalid_shown, weights[18]),
            ("spent is not what its days come to", spent, weights[14]),
        ]);
    }
    if reasons > invalid {
        found.add_with(&key, format!("{of}: x is less than its reasons"), format!("{invalid}, {reasons}"));
    }
    for (what, is, should) in pairs.into_iter().filter(|(_, is, should)| is != should) {
        found.add_with(&key, format!("{of}: {what}"), format!("{is}, not {should}"));
    }
}
