//! Audits the journal: no entry is long past its lease, there are no dead letters, and every entry is in a queue.

use super::keys::{self, KeyKind};
use super::model::{JournalEntry, LEASE};
use super::queue::Queue;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::source;
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashMap;

pub use super::keys::KINDS;

/// The longest time that an entry may be past its lease: one back-off and one poll of the workers.
const MAX_OVERDUE: Millis = 2 * LEASE;
/// The longest time for which a message may wait: it is tried for a day, at most an hour apart; meanwhile the mail server may be down, or no process may send
/// mail.
const MAX_MAIL_AGE: Millis = DAY + DAY / 12;

/// Whether a key belongs to the journal.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks the keys of the journal.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, keys: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for key in keys {
        match keys::parse(&key.key) {
            Some(KeyKind::Journal(shard)) if key.check_type("hash", Expiry::Never, found) => {
                check_shard(reader, shard, found).await?
            }
            Some(KeyKind::Due(_)) => drop(key.check_derived_type("zset", Expiry::Never, found)),
            Some(KeyKind::Dead(_)) if key.check_type("hash", Expiry::Never, found) => check_dead(reader, &key.key, found).await?,
            Some(KeyKind::Settled(_)) => drop(key.check_derived_type("zset", Expiry::Never, found)),
            Some(KeyKind::Copies(_)) if key.check_type("hash", Expiry::Never, found) => {
                check_copies(reader, &key.key, found).await?
            }
            _ => {}
        }
    }
    Ok(())
}

async fn check_shard(reader: &AuditReader, shard: u64, found: &mut Findings) -> Result<(), Error> {
    let mut due: HashMap<String, Millis> = HashMap::new();
    for queue in Queue::ALL {
        due.extend(times(reader, &keys::due(shard, queue)).await?);
    }
    let settled: HashMap<String, Millis> = times(reader, &keys::settled(shard)).await?.collect();
    let key = keys::journal(shard);
    let mut records: HashMap<String, String> = HashMap::new();
    reader
        .fields(vec![key.clone()], async |page| {
            records.extend(page.into_iter().map(|(_, id, record)| (id, record)));
            Ok(())
        })
        .await?;
    for (id, record) in &records {
        let entry = audit::id(id).and_then(|id| JournalEntry::parse(id, record));
        match (entry, due.get(id)) {
            (None, _) => found.add_with(&key, format!("entry {id:?} cannot be read"), record.clone()),
            // A settled entry waits until a worker sweeps it; where no server runs it stays settled.
            (_, None) if settled.contains_key(id) => {}
            (_, None) => found.add(&key, format!("entry {id} is in no queue")),
            (Some(entry), Some(due)) if is_overdue(&entry, *due, reader.now()) => {
                found.add_with(&key, format!("entry {id} is overdue: does a server run?"), format!("{:?}", entry.task));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether an entry was not settled in time. A message may wait for longer, up to [`MAX_MAIL_AGE`].
fn is_overdue(entry: &JournalEntry, due: Millis, now: Millis) -> bool {
    let may_wait = entry.task.queue() == Queue::Mail && now <= source::time_of(entry.id) + MAX_MAIL_AGE;
    !may_wait && due + MAX_OVERDUE < now
}

/// Reads the members of a sorted set whose scores are times.
async fn times(reader: &AuditReader, key: &str) -> Result<impl Iterator<Item = (String, Millis)>, Error> {
    let range = |key: &str| cmd("ZRANGE").arg(key).arg(0).arg(super::model::MAX_ENTRIES - 1).arg("WITHSCORES").take();
    let rows: Vec<(String, f64)> = reader.query([key], range).await?.read(&key).unwrap_or_default();
    Ok(rows.into_iter().map(|(id, at)| (id, at as Millis)))
}

/// Checks copies. A copy is deleted before its entry; if the entry is missing, a worker restores it from the copy within a minute.
async fn check_copies(reader: &AuditReader, key: &str, found: &mut Findings) -> Result<(), Error> {
    reader
        .fields(vec![key.to_owned()], async |page| {
            let ids: Vec<u64> = page.iter().filter_map(|(_, id, _)| audit::id(id)).collect();
            let journal = |id| cmd("HEXISTS").arg(keys::journal(super::model::shard_of(id))).arg(id).take();
            let existing_entries = reader.query(ids, journal).await?;
            for (key, id, record) in page {
                match audit::id(&id).filter(|id| JournalEntry::parse(*id, &record).is_some()) {
                    None => {
                        let problem = format!("the copy {id:?} cannot be read");
                        let remove = Remedy::SetField { key: key.clone(), field: id, found: Some(record.clone()), value: None };
                        found.add_repairable_with(&key, problem, record, [remove]);
                    }
                    Some(number) if reader.is_young(number) || existing_entries.read::<bool>(&number) == Some(true) => {}
                    Some(_) => found.add(&key, format!("the entry of the copy {id} does not exist: is a server running?")),
                }
            }
            Ok(())
        })
        .await
}

async fn check_dead(reader: &AuditReader, key: &str, found: &mut Findings) -> Result<(), Error> {
    reader
        .fields(vec![key.to_owned()], async |page| {
            for (key, id, text) in page {
                found.add_with(&key, format!("entry {id} could not be settled: see `waxwing tasks`"), text.replace('\n', " "));
            }
            Ok(())
        })
        .await
}
