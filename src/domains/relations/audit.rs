//! The audit of relations: a mute is on both sides with the same id, counts equal the sizes of the sets, and ended mutes are removed.

use super::keys::{self, KeyKind};
use super::model::MAX_MUTES;
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow, StoredCount};
use crate::domains::users::{user_key, user_of_key};
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// A side of mutes: whether it is the muters', and the account.
type Side = (bool, UserId);

/// Checks both sides of mutes, their ends, and the counts of accounts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let accounts = entries.iter().filter_map(|entry| user_of_key(&entry.key));
    let count = |id| StoredCount { key: user_key(id), field: "mutes", set: keys::mutes(id) };
    reader.check_counts(accounts.map(count).collect(), found).await?;
    let (mut sides, mut ends) = (Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            // The muter's side is the truth; the other keys follow from it.
            Some(KeyKind::Mutes(id)) if entry.check_type("zset", Expiry::Never, found) => {
                sides.push(((true, id), entry.key.clone()))
            }
            Some(KeyKind::Muters(id)) if entry.check_derived_type("zset", Expiry::Never, found) => {
                sides.push(((false, id), entry.key.clone()));
            }
            Some(KeyKind::MuteEnds(id)) if entry.check_type("zset", Expiry::Never, found) => ends.push(id),
            Some(KeyKind::Schedule(_)) => drop(entry.check_derived_type("zset", Expiry::Never, found)),
            _ => {}
        }
    }
    check_ends(reader, &ends, found).await?;
    check_owners(reader, sides.iter().map(|(side, _)| *side).collect(), found).await?;
    let mut scan = SetScan::start(reader, sides, repair_entry, found).await?;
    loop {
        let parts = scan.next(reader, found).await?;
        if parts.is_empty() {
            return Ok(());
        }
        check_sides(reader, &parts, found).await?;
    }
}

fn side_key((is_muter, id): Side) -> String {
    if is_muter { keys::mutes(id) } else { keys::muters(id) }
}

/// The mute that an entry of a set belongs to.
const fn settle((is_muter, id): Side, other: UserId) -> Remedy {
    let (from, to) = if is_muter { (id, other) } else { (other, id) };
    Remedy::SettleMute { from, to }
}

/// The muter's side receives a new id, which the other side takes over.
fn repair_entry(side: Side, key: &str, member: u64) -> Vec<Remedy> {
    let restamp = side.0.then(|| Remedy::RestampMember { key: key.to_owned(), member });
    restamp.into_iter().chain([settle(side, UserId(member))]).collect()
}

/// A temporary mute has a mute, and is removed within a day of its end.
async fn check_ends(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
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
                found.add_repairable(&key, format!("{other} in it is not muted"), remove());
            } else if *end + (DAY as f64) < reader.now() as f64 {
                found.add_repairable(&key, format!("the mute of {other} has ended more than a day ago"), [Remedy::EndMutes(*id)]);
            }
        }
    }
    Ok(())
}

async fn check_owners(reader: &AuditReader, sides: Vec<Side>, found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(sides.iter().map(|(_, id)| *id)).await?;
    for side in sides.iter().filter(|(_, id)| missing_accounts.contains(id)) {
        found.add_repairable(&side_key(*side), "there is no such account", [Remedy::PurgeAccount(side.1)]);
    }
    let muters = || sides.iter().copied().filter(|(is_muter, _)| *is_muter);
    let sizes = reader.query(muters(), |side| cmd("ZCARD").arg(side_key(side)).take()).await?;
    for side in muters() {
        if let Some(size) = sizes.read::<usize>(&side).filter(|size| *size > MAX_MUTES) {
            found.add_with(&side_key(side), format!("holds more than {MAX_MUTES}"), size.to_string());
        }
    }
    Ok(())
}

async fn check_sides(reader: &AuditReader, parts: &[SetWindow<Side>], found: &mut Findings) -> Result<(), Error> {
    let others = || parts.iter().flat_map(|part| part.rows.iter().map(|row| UserId(row.member)));
    let missing_accounts = reader.missing_accounts(others()).await?;
    let back = |part: &SetWindow<Side>, other| ((!part.of.0, other), part.of.1);
    let backs = parts.iter().flat_map(|part| part.rows.iter().map(move |row| back(part, UserId(row.member))));
    let scores = reader.query(backs, |(side, member)| cmd("ZSCORE").arg(side_key(side)).arg(member.0).take()).await?;
    for part in parts {
        for row in &part.rows {
            let other = UserId(row.member);
            let (side, member) = back(part, other);
            match scores.score(&(side, member)) {
                _ if other == part.of.1 => {
                    let own = Remedy::RemoveMember { key: part.key.clone(), member: row.member.to_string().into_bytes() };
                    found.add_repairable(&part.key, "holds its own account", [own]);
                }
                _ if missing_accounts.contains(&other) => {
                    found.add_repairable(&part.key, format!("{} in it is no account", other.0), [settle(part.of, other)]);
                }
                _ if reader.is_young(row.position) => {}
                None => {
                    let what = format!("{} is in it, but {} has no {}", other.0, side_key(side), member.0);
                    found.add_repairable(&part.key, what, [settle(part.of, other)]);
                }
                // Reported from one side only.
                Some(score) if score != row.position && part.of.0 => {
                    let what = format!("{} is in it with another mute than in {}", other.0, side_key(side));
                    found.add_repairable_with(&part.key, what, format!("{} and {score}", row.position), [settle(part.of, other)]);
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
