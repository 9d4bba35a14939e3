//! The audit of server keys: every record can be read, no two names have one key, and there are not too many.

use super::keys;
use super::model::{KeyRecord, MAX_KEYS};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use std::collections::HashSet;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    key == keys::SERVER_KEYS
}

/// Checks the register. A record that cannot be read gives no access, so the repair removes the record.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let Some(entry) = entries.iter().find(|entry| owns(&entry.key)) else { return Ok(()) };
    if !entry.check_type("hash", Expiry::Never, found) {
        return Ok(());
    }
    let key = keys::SERVER_KEYS;
    let (mut names, mut digests) = (HashSet::new(), HashSet::new());
    let visit = async |page: Vec<(String, String, String)>| {
        for (_, name, text) in page {
            // A scan can return a field twice.
            if !names.insert(name.clone()) || found.is_full(key) {
                continue;
            }
            match KeyRecord::parse(&name, &text) {
                Some(record) if !digests.insert(record.digest.clone()) => {
                    found.add_with(key, "has two names of one key", format!("{name:?}"));
                }
                Some(_) => {}
                None => {
                    let remedy = Remedy::SetField { key: key.to_owned(), field: name.clone(), found: Some(text), value: None };
                    found.add_repairable(key, format!("the record of {name:?} cannot be read"), [remedy]);
                }
            }
        }
        Ok(())
    };
    reader.fields(vec![key.to_owned()], visit).await?;
    if names.len() > MAX_KEYS {
        found.add_with(key, format!("has more than {MAX_KEYS} keys"), names.len().to_string());
    }
    Ok(())
}
