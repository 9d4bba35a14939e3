//! The audit of what processes keep for themselves.

use super::audit_reader::AuditReader;
use super::keys::{self, Owned};
use super::settings::STAR_FOLLOWERS;
use crate::base::audit::{self, Entry, Expiry, Findings, LEASE, Remedy};
use crate::base::error::Error;
use crate::base::ids::source::WORKERS;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is one of these.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Worker numbers, the cursors' secret, the note on a demo world, the store's version, the settings.
///
/// # Errors
/// As [`super::Db::read_many`].
pub async fn check(look: &AuditReader, entries: &[Entry], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(Owned::Worker(number)) => worker(look, entry, number, found).await?,
            Some(Owned::Secret) => secret(look, &entry.key, entry.is_a("string", Expiry::On, found), found).await?,
            Some(Owned::Settings) => settings(look, &entry.key, entry.is_a("hash", Expiry::On, found), found).await?,
            Some(Owned::World) => world(look, &entry.key, entry.is_a("hash", Expiry::On, found), found).await?,
            Some(Owned::Version) => version(look, &entry.key, entry.is_a("hash", Expiry::On, found), found).await?,
            None => {}
        }
    }
    Ok(())
}

/// There are 64 at most, so that each may cost a round trip.
async fn worker(look: &AuditReader, entry: &Entry, number: u64, found: &mut Findings) -> Result<(), Error> {
    if number >= WORKERS {
        let discard = Remedy::Discard { key: entry.key.clone() };
        found.mend(&entry.key, format!("worker numbers end at {}", WORKERS - 1), [discard]);
    } else if entry.is_a("string", Expiry::On, found) {
        let held = look.ask([entry.key.as_str()], |key| cmd("GETRANGE").arg(key).arg(0).arg(30).take()).await?;
        let held: Option<String> = held.read(&entry.key.as_str());
        if held.as_deref().and_then(audit::number).is_none() {
            // Whoever had this number has given out no id past that moment: it reserves ten seconds at a time.
            let until = (look.now() + LEASE).to_string();
            let remedy = Remedy::SetText { key: entry.key.clone(), found: held.unwrap_or_default(), value: until };
            found.mend(&entry.key, "is no time in ms", [remedy]);
        }
    }
    Ok(())
}

async fn secret(look: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable && look.ask([key], |key| cmd("STRLEN").arg(key).take()).await?.read::<u64>(&key) != Some(16) {
        found.add(key, "is not 16 bytes long");
    }
    Ok(())
}

async fn version(look: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable {
        let fields = look.ask([key], |key| cmd("HMGET").arg(key).arg(&["version", "step", "place", "by"]).take()).await?;
        match fields.read::<(u64, u64, String, String)>(&key) {
            Some((_, 0, ..)) => {}
            Some(_) => found.add(key, "a migration was begun and not finished: run `waxwing migrate`"),
            None => found.add(key, "its fields are not a version, a step, a place and a program's version"),
        }
    }
    Ok(())
}

async fn settings(look: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if readable {
        let held = look.ask([key], |key| cmd("HGET").arg(key).arg(STAR_FOLLOWERS).take()).await?.read::<String>(&key);
        if let Some(held) = held.filter(|held| audit::number(held).is_none()) {
            // The workers write it again when they begin.
            let (key, field) = (key.to_owned(), STAR_FOLLOWERS.to_owned());
            let remove = Remedy::SetField { key: key.clone(), field, found: Some(held), value: None };
            found.mend(&key, format!("its {STAR_FOLLOWERS} is no number"), [remove]);
        }
    }
    Ok(())
}

async fn world(look: &AuditReader, key: &str, readable: bool, found: &mut Findings) -> Result<(), Error> {
    if !readable {
        return Ok(());
    }
    let fields = look.ask([key], |key| cmd("HMGET").arg(key).arg(&["name", "moment", "state"]).take()).await?;
    match fields.read::<(String, u64, String)>(&key) {
        Some((_, _, state)) if state == "loaded" => {}
        Some((_, _, state)) if state == "loading" => found.add(key, "the demo world is not loaded to its end: load it again"),
        _ => found.add(key, "its fields are not a name, a moment and a state"),
    }
    Ok(())
}
