//! Audits the event log: each stream agrees with the hash that indexes its events.

use super::keys::{self, KeyKind};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key belongs to the event log.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks streams and their indexes.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Stream(shard)) if entry.check_type("stream", Expiry::Never, found) => {
                check_shard(reader, shard, found).await?
            }
            Some(KeyKind::Channel) => found.add(&entry.key, "is the name of a channel: nothing is stored under it"),
            Some(KeyKind::Index(_)) => drop(entry.check_type("hash", Expiry::Never, found)),
            _ => {}
        }
    }
    Ok(())
}

async fn check_shard(reader: &AuditReader, shard: usize, found: &mut Findings) -> Result<(), Error> {
    let (stream, index) = (keys::stream(shard), keys::index(shard));
    let newest =
        reader.query([stream.as_str()], |key| cmd("XREVRANGE").arg(key).arg("+").arg("-").arg("COUNT").arg(1).take()).await?;
    let last = reader.query([index.as_str()], |key| cmd("HGET").arg(key).arg("last").take()).await?;
    let newest: Vec<(String, Vec<Vec<u8>>)> = newest.read(&stream.as_str()).unwrap_or_default();
    let last: Option<String> = last.read(&index.as_str()).flatten();
    if newest.first().map(|(id, _)| id) != last.as_ref() {
        let problem = format!("its newest event is not the last in {index}");
        found.add_repairable(&stream, problem, [Remedy::SyncLast { key: index, stream: stream.clone() }]);
    }
    Ok(())
}
