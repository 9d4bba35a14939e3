//! The audit of events: what is told and what says so belong together.

use super::keys::{self, Owned};
use crate::base::audit::{Entry, Expiry, Findings, Remedy};
use crate::base::error::Error;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Streams and what says which events are in them.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(look: &AuditReader, entries: &[Entry], found: &mut Findings) -> Result<(), Error> {
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(Owned::Stream(shard)) if entry.is_a("stream", Expiry::On, found) => check_shard(look, shard, found).await?,
            Some(Owned::Changes) => found.add(&entry.key, "is the name of a channel: nothing is kept under it"),
            Some(Owned::Told(_)) => drop(entry.is_a("hash", Expiry::On, found)),
            _ => {}
        }
    }
    Ok(())
}

async fn check_shard(look: &AuditReader, shard: usize, found: &mut Findings) -> Result<(), Error> {
    let (stream, told) = (keys::stream(shard), keys::told(shard));
    let newest =
        look.ask([stream.as_str()], |key| cmd("XREVRANGE").arg(key).arg("+").arg("-").arg("COUNT").arg(1).take()).await?;
    let last = look.ask([told.as_str()], |key| cmd("HGET").arg(key).arg("last").take()).await?;
    let newest: Vec<(String, Vec<Vec<u8>>)> = newest.read(&stream.as_str()).unwrap_or_default();
    let last: Option<String> = last.read(&told.as_str()).flatten();
    if newest.first().map(|(id, _)| id) != last.as_ref() {
        let what = format!("its newest event is not the last in {told}");
        found.mend(&stream, what, [Remedy::SyncLast { key: told, stream: stream.clone() }]);
    }
    Ok(())
}
