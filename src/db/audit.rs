//! Audits the keys of [`super`]: worker numbers, secret, settings, version, demo data.

use super::audit_reader::AuditReader;
use super::demo_data::{IMPORTED, LOADED, LOADING};
use super::keys::{self, KeyKind};
use super::settings::STAR_FOLLOWERS;
use crate::base::audit::{self, Expiry, Findings, GRACE_PERIOD, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::ids::source::WORKERS;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key belongs to this module.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks worker numbers, the cursor secret, the demo data, the store's version and the settings.
///
/// # Errors
/// As [`super::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Worker(number)) => check_worker(reader, entry, number, found).await?,
            Some(KeyKind::Secret) => {
                check_secret(reader, &entry.key, entry.check_type("string", Expiry::Never, found), found).await?
            }
            Some(KeyKind::Settings) => {
                check_settings(reader, &entry.key, entry.check_type("hash", Expiry::Never, found), found).await?
            }
            Some(KeyKind::DemoData) => {
                check_demo_data(reader, &entry.key, entry.check_type("hash", Expiry::Never, found), found).await?
            }
            Some(KeyKind::Version) => {
                check_version(reader, &entry.key, entry.check_type("hash", Expiry::Never, found), found).await?
            }
            None => {}
        }
    }
    Ok(())
}

/// Checks the key of a worker number. One round trip per key, of which there are at most 64.
async fn check_worker(reader: &AuditReader, entry: &KeyInfo, number: u64, found: &mut Findings) -> Result<(), Error> {
    if number >= WORKERS {
        let discard = Remedy::Discard { key: entry.key.clone() };
        found.add_repairable(&entry.key, format!("worker numbers end at {}", WORKERS - 1), [discard]);
    } else if entry.check_type("string", Expiry::Never, found) {
        let held = reader.query([entry.key.as_str()], |key| cmd("GETRANGE").arg(key).arg(0).arg(30).take()).await?;
        let held: Option<String> = held.read(&entry.key.as_str());
        if held.as_deref().and_then(audit::number).is_none() {
            // The former owner of this number has no reservation beyond this time: it reserves ten seconds at a time.
            let until = (reader.now() + GRACE_PERIOD).to_string();
            let remedy = Remedy::SetText { key: entry.key.clone(), found: held.unwrap_or_default(), value: until };
            found.add_repairable(&entry.key, "is not a time in ms", [remedy]);
        }
    }
    Ok(())
}

async fn check_secret(reader: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable && reader.query([key], |key| cmd("STRLEN").arg(key).take()).await?.read::<u64>(&key) != Some(16) {
        found.add(key, "is not 16 bytes long");
    }
    Ok(())
}

async fn check_version(reader: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable {
        let fields = reader.query([key], |key| cmd("HMGET").arg(key).arg(&["version", "step", "place", "by"]).take()).await?;
        match fields.read::<(u64, u64, String, String)>(&key) {
            Some((_, 0, ..)) => {}
            Some(_) => found.add(key, "a migration is not complete: run `waxwing migrate`"),
            None => found.add(key, "its fields are not a version, a step, a place and a program's version"),
        }
    }
    Ok(())
}

async fn check_settings(reader: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable {
        let held = reader.query([key], |key| cmd("HGET").arg(key).arg(STAR_FOLLOWERS).take()).await?.read::<String>(&key);
        if let Some(held) = held.filter(|held| audit::number(held).is_none()) {
            // A process with workers writes the setting again when it starts.
            let (key, field) = (key.to_owned(), STAR_FOLLOWERS.to_owned());
            let remove = Remedy::SetField { key: key.clone(), field, found: Some(held), value: None };
            found.add_repairable(&key, format!("its {STAR_FOLLOWERS} is not a number"), [remove]);
        }
    }
    Ok(())
}

async fn check_demo_data(reader: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if !readable {
        return Ok(());
    }
    let fields = reader.query([key], |key| cmd("HMGET").arg(key).arg(&["name", "moment", "state"]).take()).await?;
    match fields.read::<(String, u64, String)>(&key) {
        Some((_, _, state)) if state == LOADED => {}
        Some((_, _, state)) if [LOADING, IMPORTED].contains(&state.as_str()) => {
            found.add(key, "loading the demo data was not completed: load it again")
        }
        _ => found.add(key, "its fields are not a name, a time and a state"),
    }
    Ok(())
}
