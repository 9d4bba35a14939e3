//! The audit of follows: an edge is on both sides with the same id, and counts equal the sizes of the sets.

use super::keys;
use super::model::{Direction, MAX_FOLLOWING};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::{AuditReader, SetScan, SetWindow, StoredCount};
use crate::domains::users::{user_key, user_of_key};
use redis::cmd;

pub use super::keys::KINDS;

type Set = (Direction, UserId);

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some() || keys::parse_left(key).is_some()
}

/// Checks both sides of follows, and the counts of accounts.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    reader.check_counts(entries.iter().filter_map(|entry| user_of_key(&entry.key)).flat_map(counts).collect(), found).await?;
    check_left(reader, entries, found).await?;
    let mut sets = Vec::new();
    for entry in entries {
        let Some(set) = keys::parse(&entry.key) else { continue };
        // The follower's side is the truth; the other side follows from it.
        let is_set = match set.0 {
            Direction::Following => entry.check_type("zset", Expiry::Never, found),
            Direction::Followers => entry.check_derived_type("zset", Expiry::Never, found),
        };
        if is_set {
            sets.push((set, entry.key.clone()));
        }
    }
    check_sets(reader, sets.iter().map(|(set, _)| *set).collect(), found).await?;
    let mut scan = SetScan::start(reader, sets, remedies_for_edge, found).await?;
    loop {
        let parts = scan.next(reader, found).await?;
        if parts.is_empty() {
            return Ok(());
        }
        check_edges(reader, &parts, found).await?;
    }
}

/// Unfollowed accounts are forgotten within seconds. The time is not stored, so only a finding that a second read confirms is reported.
async fn check_left(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let left: Vec<(UserId, &KeyInfo)> = entries.iter().filter_map(|entry| Some((keys::parse_left(&entry.key)?, entry))).collect();
    let missing_accounts = reader.missing_accounts(left.iter().map(|(id, _)| *id)).await?;
    for (id, entry) in left {
        if entry.check_derived_type("zset", Expiry::Never, found) && missing_accounts.contains(&id) {
            let orphan = Remedy::DeleteOrphan { key: entry.key.clone(), owners: vec![user_key(id)] };
            found.add_repairable(&entry.key, "there is no such account", [orphan]);
        }
    }
    Ok(())
}

/// The follow that an entry of a set belongs to.
const fn follow_of((side, id): Set, other: UserId) -> Remedy {
    match side {
        Direction::Following => Remedy::SettleFollow { follower: id, followed: other },
        Direction::Followers => Remedy::SettleFollow { follower: other, followed: id },
    }
}

/// The follower's side gets a new id, which the other side takes over.
fn remedies_for_edge(set: Set, key: &str, member: u64) -> Vec<Remedy> {
    let restamp = Remedy::RestampMember { key: key.to_owned(), member };
    let restamp = (set.0 == Direction::Following).then_some(restamp);
    restamp.into_iter().chain([follow_of(set, UserId(member))]).collect()
}

fn set_key((side, id): Set) -> String {
    match side {
        Direction::Following => keys::following(id),
        Direction::Followers => keys::followers(id),
    }
}

fn counts(id: UserId) -> [StoredCount; 2] {
    let side = |field, set| StoredCount { key: user_key(id), field, set };
    [side("following", keys::following(id)), side("followers", keys::followers(id))]
}

async fn check_sets(reader: &AuditReader, sets: Vec<Set>, found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(sets.iter().map(|(_, id)| *id)).await?;
    for set in sets.iter().filter(|(_, id)| missing_accounts.contains(id)) {
        found.add_repairable(&set_key(*set), "there is no such account", [Remedy::PurgeAccount(set.1)]);
    }
    let bounded = || sets.iter().copied().filter(|(side, _)| *side == Direction::Following);
    let sizes = reader.query(bounded(), |set| cmd("ZCARD").arg(set_key(set)).take()).await?;
    for set in bounded() {
        if let Some(size) = sizes.read::<usize>(&set).filter(|size| *size > MAX_FOLLOWING) {
            found.add_with(&set_key(set), format!("holds more than {MAX_FOLLOWING}"), size.to_string());
        }
    }
    Ok(())
}

async fn check_edges(reader: &AuditReader, parts: &[SetWindow<Set>], found: &mut Findings) -> Result<(), Error> {
    let others = || parts.iter().flat_map(|part| part.rows.iter().map(|row| UserId(row.member)));
    let missing_accounts = reader.missing_accounts(others()).await?;
    let back = |part: &SetWindow<Set>, other| match part.of {
        (Direction::Following, id) => ((Direction::Followers, other), id),
        (Direction::Followers, id) => ((Direction::Following, other), id),
    };
    let backs = parts.iter().flat_map(|part| part.rows.iter().map(|row| back(part, UserId(row.member))));
    let scores = reader.query(backs, |(set, member)| cmd("ZSCORE").arg(set_key(set)).arg(member.0).take()).await?;
    for part in parts {
        for row in &part.rows {
            let other = UserId(row.member);
            let (set, member) = back(part, other);
            let settle = follow_of(part.of, other);
            match scores.score(&(set, member)) {
                _ if other == part.of.1 => {
                    let own = Remedy::RemoveMember { key: part.key.clone(), member: row.member.to_string().into_bytes() };
                    found.add_repairable(&part.key, "holds its own account", [own]);
                }
                _ if missing_accounts.contains(&other) => {
                    found.add_repairable(&part.key, format!("{} in it is no account", other.0), [settle])
                }
                _ if reader.is_young(row.position) => {}
                None => {
                    let what = format!("{} is in it, but {} has no {}", other.0, set_key(set), member.0);
                    found.add_repairable(&part.key, what, [settle]);
                }
                // Reported from one side only.
                Some(score) if score != row.position && part.of.0 == Direction::Following => {
                    let what = format!("{} is in it with another follow than in {}", other.0, set_key(set));
                    found.add_repairable_with(&part.key, what, format!("{} and {score}", row.position), [settle]);
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
