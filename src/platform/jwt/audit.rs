//! Audits the key set of the issuer of JWTs.

use super::key_set::KeySet;
use super::keys;
pub use super::keys::KINDS;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

/// Whether a key belongs to this module.
pub fn owns(key: &str) -> bool {
    key == keys::KEY_SET
}

/// Checks that the kept key set can be read. Servers write it again when they fetch the keys.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let Some(entry) = entries.iter().find(|entry| owns(&entry.key)) else { return Ok(()) };
    if !entry.check_derived_type("hash", Expiry::Never, found) {
        return Ok(());
    }
    let key = entry.key.as_str();
    let fields = reader.query([key], |key| cmd("HMGET").arg(key).arg(&["source", "fetched", "keys"]).take()).await?;
    let values: [Option<String>; 3] = fields.read(&key).unwrap_or_default();
    let is_valid = match &values {
        // The key may have been deleted since its type was read.
        [None, None, None] => true,
        [Some(_), Some(fetched), Some(set)] => audit::number(fetched).is_some() && KeySet::parse(set.as_bytes()).is_ok(),
        _ => false,
    };
    if !is_valid {
        let discard = Remedy::Discard { key: key.to_owned() };
        found.add_repairable(key, "its source, fetched or keys cannot be read", [discard]);
    }
    Ok(())
}
