//! Audits idempotency keys: both Redis keys of an owner have the same members, and every value can be parsed.

use super::keys::{self, KeyKind};
use super::model::{DIGEST_LENGTH, KEY_TTL, KeyOwner};
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashSet;

pub use super::keys::KINDS;

/// Whether a Redis key belongs to this module.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks the bindings of owners and the times of the bindings.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut bindings, mut owners) = (Vec::new(), HashSet::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Bindings(owner)) if entry.check_derived_type("hash", Expiry::After(KEY_TTL), found) => {
                bindings.push(entry.key.clone());
                owners.insert(owner);
            }
            Some(KeyKind::Times(owner)) if entry.check_derived_type("zset", Expiry::After(KEY_TTL), found) => {
                owners.insert(owner);
            }
            _ => {}
        }
    }
    check_sizes(reader, owners, found).await?;
    reader.fields(bindings, async |page| check_bindings(reader, page, found).await).await
}

async fn check_sizes(reader: &AuditReader, owners: HashSet<KeyOwner>, found: &mut Findings) -> Result<(), Error> {
    let bindings = reader.query(&owners, |owner| cmd("HLEN").arg(keys::bindings(owner)).take()).await?;
    let times = reader.query(&owners, |owner| cmd("ZCARD").arg(keys::times(owner)).take()).await?;
    let account = |owner: &KeyOwner| if let KeyOwner::Account(account) = owner { Some(*account) } else { None };
    let missing_accounts = reader.missing_accounts(owners.iter().filter_map(account)).await?;
    for owner in &owners {
        let repair = [Remedy::RepairIdempotencyKeys { tag: owner.tag() }];
        if let Some(account) = account(owner).filter(|account| missing_accounts.contains(account)) {
            let has_bindings = bindings.read::<usize>(&owner).is_some_and(|size| size > 0);
            let key = if has_bindings { keys::bindings(owner) } else { keys::times(owner) };
            found.add_repairable(&key, "there is no such account", [Remedy::PurgeAccount(account)]);
        }
        // A wrong type is reported elsewhere.
        let (Some(size), Some(other)) = (bindings.read::<usize>(&owner), times.read::<usize>(&owner)) else { continue };
        if size != other {
            // Reported for the key that exists: a deleted key is not checked again.
            let (bindings, times) = (keys::bindings(owner), keys::times(owner));
            let (key, other_key) = if size > 0 { (bindings, times) } else { (times, bindings) };
            let problem = format!("has another size than {other_key}");
            found.add_repairable_with(&key, problem, format!("{size} bindings, {other} times"), repair.clone());
        }
        if size > owner.max_keys() {
            let problem = format!("holds more than {}", owner.max_keys());
            found.add_repairable_with(&keys::bindings(owner), problem, size.to_string(), repair);
        }
    }
    Ok(())
}

async fn check_bindings(reader: &AuditReader, page: Vec<(String, String, String)>, found: &mut Findings) -> Result<(), Error> {
    let rows: Vec<_> = page.iter().filter_map(|(key, digest, _)| Some((times_key(key)?, digest.as_str()))).collect();
    let rows = rows.iter().map(|(times, digest)| (times.as_str(), *digest));
    let times = reader.query(rows, |(times, digest)| cmd("ZSCORE").arg(times).arg(digest).take()).await?;
    for (key, digest, value) in &page {
        let words: Vec<&str> = value.split(' ').collect();
        let is_bound = |fingerprint: &str, id: &str| audit::is_digest(fingerprint, DIGEST_LENGTH) && audit::id(id).is_some();
        let is_valid = match words[..] {
            [fingerprint, id] => is_bound(fingerprint, id),
            [fingerprint, id, result] => is_bound(fingerprint, id) && audit::id(result).is_some(),
            _ => false,
        };
        let repair = || owner_of(key).map(|owner| Remedy::RepairIdempotencyKeys { tag: owner.tag() });
        if !audit::is_digest(digest, DIGEST_LENGTH) {
            found.add_repairable(key, "contains an invalid digest", repair());
        }
        if !is_valid {
            found.add_repairable(key, format!("{digest} has no valid fingerprint and id"), repair());
        }
        if let Some(times_key) = times_key(key)
            && times.score(&(times_key.as_str(), digest.as_str())).is_none()
        {
            found.add_repairable(key, format!("{digest} has no time in {times_key}"), repair());
        }
    }
    Ok(())
}

fn owner_of(key: &str) -> Option<KeyOwner> {
    match keys::parse(key)? {
        KeyKind::Bindings(owner) | KeyKind::Times(owner) => Some(owner),
    }
}

/// The key of the times of the bindings in `key`.
fn times_key(key: &str) -> Option<String> {
    owner_of(key).map(|owner| keys::times(&owner))
}
