//! The audit of relations. This file checks that a mute is on both sides with the same id, counts equal the sizes of the sets, and ended mutes are removed.

mod blocks;
mod friends;

use super::keys::{self, KeyKind};
use super::model::MAX_MUTES;
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_edges::{self, EdgeKind, Side};
use crate::db::audit_reader::{AuditReader, StoredCount};
use crate::domains::users::{user_key, user_of_key};
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

static MUTES: EdgeKind = EdgeKind {
    name: "mute",
    max_per_account: MAX_MUTES,
    key: |side, id| match side {
        Side::From => keys::mutes(id),
        Side::To => keys::muters(id),
    },
    settle: |from, to| Remedy::SettleMute { from, to },
};

/// Checks both sides of relations, the ends of mutes, and the counts of accounts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    friends::check(reader, entries, found).await?;
    let accounts = entries.iter().filter_map(|entry| user_of_key(&entry.key));
    reader.check_counts(accounts.flat_map(counts_of).collect(), found).await?;
    let (mut sides, mut ends, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            // `mutes`, `mute_ends` and `blocks` are authoritative; the other keys are derived from them.
            Some(KeyKind::Mutes(id)) if entry.check_type("zset", Expiry::Never, found) => sides.push((Side::From, id)),
            Some(KeyKind::Muters(id)) if entry.check_derived_type("zset", Expiry::Never, found) => sides.push((Side::To, id)),
            Some(KeyKind::MuteEnds(id)) if entry.check_type("zset", Expiry::Never, found) => ends.push(id),
            Some(KeyKind::Blocks(id)) if entry.check_type("zset", Expiry::Never, found) => blocks.push((Side::From, id)),
            Some(KeyKind::Blockers(id)) if entry.check_derived_type("zset", Expiry::Never, found) => blocks.push((Side::To, id)),
            Some(KeyKind::Schedule(_)) => drop(entry.check_derived_type("zset", Expiry::Never, found)),
            _ => {}
        }
    }
    check_mute_ends(reader, &ends, found).await?;
    blocks::check(reader, blocks, found).await?;
    audit_edges::check(reader, &MUTES, sides, found).await
}

/// The counts of an account.
fn counts_of(id: UserId) -> [StoredCount; 3] {
    let count = |field, set| StoredCount { key: user_key(id), field, set };
    [count("mutes", keys::mutes(id)), count("blocks", keys::blocks(id)), count("blocked_by", keys::blockers(id))]
}

/// Checks temporary mutes: each has a mute, and is removed within a day of its end.
async fn check_mute_ends(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let read = |id| cmd("ZRANGE").arg(keys::mute_ends(id)).arg(0).arg(MAX_MUTES - 1).arg("WITHSCORES").take();
    let all = reader.query(ids.iter().copied(), read).await?;
    for id in ids {
        let ends: Vec<(String, f64)> = all.read(id).unwrap_or_default();
        let key = keys::mute_ends(*id);
        let mutes = reader
            .query(ends.iter().map(|(other, _)| other.as_str()), |other| cmd("ZSCORE").arg(keys::mutes(*id)).arg(other).take());
        let mutes = mutes.await?;
        for (other, end) in &ends {
            let remove = || [Remedy::RemoveMember { key: key.clone(), member: other.clone().into_bytes() }];
            if mutes.read::<Option<f64>>(&other.as_str()).flatten().is_none() {
                found.add_repairable(&key, format!("member {other} is not muted"), remove());
            } else if *end + (DAY as f64) < reader.now() as f64 {
                found.add_repairable(&key, format!("the mute of {other} has ended more than a day ago"), [Remedy::EndMutes(*id)]);
            }
        }
    }
    Ok(())
}
