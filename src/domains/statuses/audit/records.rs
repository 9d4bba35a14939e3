//! Whether statuses exist, for audits.

use super::super::keys;
use super::super::model::TOMBSTONE_TTL;
use crate::base::audit::GRACE_PERIOD;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::audit_reader::AuditReader;
use redis::cmd;
use std::collections::HashMap;

/// Whether a status exists, for an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRecord {
    /// It exists; its author.
    By(UserId),
    /// It does not exist, but is so new or was deleted so recently that a write may be in progress.
    InProgress,
    /// It does not exist.
    Missing,
}

/// Looks up statuses. Two pipelines.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn status_records(
    reader: &AuditReader,
    ids: impl Iterator<Item = StatusId>,
) -> Result<HashMap<StatusId, StatusRecord>, Error> {
    let ids: Vec<StatusId> = ids.collect();
    let authors = reader.query(ids.iter().copied(), |id| cmd("HGET").arg(keys::status(id)).arg("uid").take()).await?;
    let author = |id: &StatusId| authors.read::<Option<u64>>(id).flatten().map(UserId);
    let missing = ids.iter().copied().filter(|id| author(id).is_none());
    let ttls = reader.query(missing, |id| cmd("PTTL").arg(keys::tombstone(id)).take()).await?;
    let record = |id: &StatusId| match author(id) {
        Some(author) => StatusRecord::By(author),
        None if reader.is_young(id.0) => StatusRecord::InProgress,
        None if ttls.read::<i64>(id).is_some_and(|ttl| ttl > (TOMBSTONE_TTL - GRACE_PERIOD) as i64) => StatusRecord::InProgress,
        None => StatusRecord::Missing,
    };
    Ok(ids.iter().map(|id| (*id, record(id))).collect())
}
