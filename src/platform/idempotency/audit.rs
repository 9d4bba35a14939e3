//! Audits idempotency keys: both hashes of an account have the same members, and every value can be parsed.

use super::keys::{self, KeyKind};
use super::model::{DIGEST, KEY_TTL, MAX_KEYS};
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashSet;

pub use super::keys::KINDS;

/// Whether a key belongs to the idempotency keys.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks the bindings of accounts and their times.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut bindings, mut accounts) = (Vec::new(), HashSet::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Bindings(account)) if entry.check_derived_type("hash", Expiry::After(KEY_TTL), found) => {
                bindings.push(entry.key.clone());
                accounts.insert(account);
            }
            Some(KeyKind::Times(account)) if entry.check_derived_type("zset", Expiry::After(KEY_TTL), found) => {
                accounts.insert(account);
            }
            _ => {}
        }
    }
    check_sizes(reader, accounts, found).await?;
    reader.fields(bindings, async |page| check_bindings(reader, page, found).await).await
}

async fn check_sizes(reader: &AuditReader, accounts: HashSet<UserId>, found: &mut Findings) -> Result<(), Error> {
    let bindings = reader.query(accounts.iter().copied(), |id| cmd("HLEN").arg(keys::bindings(id)).take()).await?;
    let times = reader.query(accounts.iter().copied(), |id| cmd("ZCARD").arg(keys::times(id)).take()).await?;
    let missing_accounts = reader.missing_accounts(accounts.iter().copied()).await?;
    for account in &accounts {
        let repair = [Remedy::RepairIdempotencyKeys(*account)];
        if missing_accounts.contains(account) {
            let has_bindings = bindings.read::<usize>(account).is_some_and(|size| size > 0);
            let key = if has_bindings { keys::bindings(*account) } else { keys::times(*account) };
            found.add_repairable(&key, "there is no such account", [Remedy::PurgeAccount(*account)]);
        }
        // A wrong type is reported elsewhere.
        let (Some(size), Some(other)) = (bindings.read::<usize>(account), times.read::<usize>(account)) else { continue };
        if size != other {
            // Reported for the key that exists: a deleted key is not checked again.
            let (bindings, times) = (keys::bindings(*account), keys::times(*account));
            let (key, of) = if size > 0 { (bindings, times) } else { (times, bindings) };
            let what = format!("has another size than {of}");
            found.add_repairable_with(&key, what, format!("{size} bindings, {other} times"), repair.clone());
        }
        if size > MAX_KEYS {
            found.add_repairable_with(&keys::bindings(*account), format!("holds more than {MAX_KEYS}"), size.to_string(), repair);
        }
    }
    Ok(())
}

async fn check_bindings(reader: &AuditReader, page: Vec<(String, String, String)>, found: &mut Findings) -> Result<(), Error> {
    let rows: Vec<_> = page.iter().filter_map(|(key, digest, _)| Some((account_of(key)?, digest.as_str()))).collect();
    let times = reader.query(rows, |(id, digest)| cmd("ZSCORE").arg(keys::times(id)).arg(digest).take()).await?;
    for (key, digest, value) in &page {
        let words: Vec<&str> = value.split(' ').collect();
        let is_bound = |fingerprint: &str, id: &str| audit::is_digest(fingerprint, DIGEST) && audit::id(id).is_some();
        let is_valid = match words[..] {
            [fingerprint, id] => is_bound(fingerprint, id),
            [fingerprint, id, result] => is_bound(fingerprint, id) && audit::id(result).is_some(),
            _ => false,
        };
        let repair = || account_of(key).map(Remedy::RepairIdempotencyKeys);
        if !audit::is_digest(digest, DIGEST) {
            found.add_repairable(key, "contains an invalid digest", repair());
        }
        if !is_valid {
            found.add_repairable(key, format!("{digest} in it has no valid fingerprint and id"), repair());
        }
        if let Some(account) = account_of(key)
            && times.score(&(account, digest.as_str())).is_none()
        {
            found.add_repairable(key, format!("{digest} has no time in {}", keys::times(account)), repair());
        }
    }
    Ok(())
}

fn account_of(key: &str) -> Option<UserId> {
    match keys::parse(key)? {
        KeyKind::Bindings(account) | KeyKind::Times(account) => Some(account),
    }
}
