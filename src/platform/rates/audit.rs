//! Audits buckets: each expires when it is full.

use super::keys;
pub use super::keys::KINDS;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

const FIELDS: [&str; 3] = ["owed", "at", "window"];

/// Whether a key belongs to the rate limits.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks buckets. The size of a bucket is a setting of the servers, so the amount owed is not checked.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let entries = entries.iter().filter(|entry| owns(&entry.key));
    let buckets: Vec<&KeyInfo> = entries.filter(|entry| entry.check_derived_type("hash", Expiry::After(DAY), found)).collect();
    let keys = buckets.iter().map(|entry| entry.key.as_str());
    let fields = reader.query(keys, |key| cmd("HMGET").arg(key).arg(&FIELDS).take()).await?;
    for KeyInfo { key, ttl, .. } in buckets {
        let values: [Option<String>; 3] = fields.read(&key.as_str()).unwrap_or_default();
        // The bucket may have expired since its type was read.
        if values.iter().all(Option::is_none) {
            continue;
        }
        // A missing bucket is a full one.
        let discard = [Remedy::Discard { key: key.clone() }];
        match values.map(|value| value.as_deref().and_then(audit::number)) {
            [Some(1..), Some(_), Some(window @ 1..)] if *ttl > 2 * window as i64 => {
                found.add_repairable_with(key, "has a time to live of more than twice its window", format!("{ttl} ms"), discard);
            }
            [Some(1..), Some(_), Some(1..)] => {}
            _ => found.add_repairable(key, "its owed, at or window is not a number", discard),
        }
    }
    Ok(())
}
