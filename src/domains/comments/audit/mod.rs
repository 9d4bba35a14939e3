//! The audit of comments: each is in all orders of its thread, counts equal the comments, and threads and authors' indexes agree.

mod comments;
mod repairs;
mod thread;

pub(super) use repairs::thread_repairs;

use super::keys::{self, KeyKind};
use super::model::{DELETED_TTL, MAX_DELETED, MAX_EVENTS, Order};
use crate::base::audit::{Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::MINUTE;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::db::audit_reader::AuditReader;
use crate::domains::statuses::audit::{StatusRecord, status_records};
use crate::domains::statuses::{status_key, status_of_key};
use redis::cmd;
use std::collections::HashMap;

pub use super::keys::KINDS;

/// The time to live of the log by default.
const LOG: Expiry = Expiry::After(60 * MINUTE);

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks comments, votes, the orders and logs of threads, and authors' indexes. Holds one thread at a time in memory, with the
/// texts of its comments.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let mut all = Vec::new();
    for entry in entries {
        let Some(owned) = keys::parse(&entry.key) else { continue };
        let is_sound = match owned {
            KeyKind::Comment(_) | KeyKind::Votes(_) => entry.check_type("hash", Expiry::Never, found),
            KeyKind::DeletedBranches(_) => entry.check_type("zset", Expiry::Never, found),
            KeyKind::Thread(_) => entry.check_derived_type("hash", Expiry::Never, found),
            KeyKind::Replies(..) | KeyKind::Commented(_) => entry.check_derived_type("zset", Expiry::Never, found),
            KeyKind::Log(_) => entry.check_derived_type("stream", LOG, found),
            KeyKind::Pending(_) => entry.check_derived_type("zset", LOG, found),
            KeyKind::DeletedComments(_) => entry.check_derived_type("zset", Expiry::After(DELETED_TTL), found),
        };
        if is_sound {
            all.push((owned, entry.key.as_str()));
        }
    }
    let status_records = check_statuses(reader, &all, found).await?;
    check_uncommented(reader, entries, found).await?;
    check_bounds(reader, &all, found).await?;
    check_deleted_branches(reader, &all, found).await?;
    let status_exists = |status: &StatusId| matches!(status_records.get(status), Some(StatusRecord::By(_)));
    let has_status = |owned: &KeyKind| status_of(*owned).is_none_or(|status| status_exists(&status));
    let sound: Vec<(KeyKind, &str)> = all.into_iter().filter(|(owned, _)| has_status(owned)).collect();
    comments::check(reader, &sound, found).await?;
    for (owned, key) in &sound {
        match owned {
            KeyKind::Replies(status, Order::New) => thread::check(reader, *status, found).await?,
            KeyKind::Replies(status, _) => {
                let new = keys::replies(*status, Order::New);
                let existing_orders = reader.query([new.as_str()], |key| cmd("EXISTS").arg(key).take()).await?;
                if existing_orders.read::<u64>(&new.as_str()) != Some(1) {
                    found.add_repairable(key, format!("{new} is missing"), [Remedy::RebuildThread(*status)]);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

const fn status_of(owned: KeyKind) -> Option<StatusId> {
    match owned {
        KeyKind::Comment(id) | KeyKind::Votes(id) => Some(id.status),
        KeyKind::Replies(id, _) | KeyKind::Thread(id) | KeyKind::Log(id) => Some(id),
        KeyKind::Pending(id) | KeyKind::DeletedComments(id) | KeyKind::DeletedBranches(id) => Some(id),
        KeyKind::Commented(_) => None,
    }
}

/// A thread exists only with its status, unless it is being deleted right now.
async fn check_statuses(
    reader: &AuditReader,
    all: &[(KeyKind, &str)],
    found: &mut Findings,
) -> Result<HashMap<StatusId, StatusRecord>, Error> {
    let status_records = status_records(reader, all.iter().filter_map(|(owned, _)| status_of(*owned))).await?;
    for (owned, key) in all {
        if let Some(status) = status_of(*owned).filter(|status| status_records.get(status) == Some(&StatusRecord::Missing)) {
            let orphan = Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![status_key(status)] };
            found.add_repairable(key, "there is no such status", [Remedy::PurgeThread(status), orphan]);
        }
    }
    Ok(status_records)
}

/// A status without a thread counts no comments. A status with a thread is checked with the thread.
async fn check_uncommented(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let ids: Vec<StatusId> = entries.iter().filter_map(|entry| status_of_key(&entry.key)).collect();
    let counts = reader.query(ids.iter().copied(), |id| cmd("HGET").arg(status_key(id)).arg("comments").take()).await?;
    let counting: Vec<StatusId> =
        ids.into_iter().filter(|id| counts.read::<Option<u64>>(id).flatten().is_some_and(|count| count > 0)).collect();
    let new = |id| keys::replies(id, Order::New);
    let threads = reader.query(counting.iter().copied(), |id| cmd("EXISTS").arg(new(id)).take()).await?;
    for id in counting.iter().filter(|id| threads.read::<u64>(id) != Some(1)) {
        found.add_repairable(&status_key(*id), "counts comments, but there are none", [Remedy::RebuildThread(*id)]);
    }
    Ok(())
}

/// Checks that all comments of deleted branches were deleted, except those of a removal of the last minute. Checks at most 100 branches of a thread.
async fn check_deleted_branches(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    let of_branches =
        |(owned, key): &(KeyKind, _)| if let KeyKind::DeletedBranches(status) = owned { Some((*status, *key)) } else { None };
    let deleted_branches: Vec<(StatusId, &str)> = all.iter().filter_map(of_branches).collect();
    let range = |key: &str| cmd("ZRANGE").arg(key).arg(0).arg(99).arg("WITHSCORES").take();
    let rows = reader.query(deleted_branches.iter().map(|(_, key)| *key), range).await?;
    for (status, key) in deleted_branches {
        for (number, removal) in rows.read::<Vec<(String, f64)>>(&key).unwrap_or_default() {
            if !reader.is_young(removal as u64) {
                let problem = format!("{number} was removed, but comments below it remain");
                found.add_repairable(key, problem, [Remedy::PurgeThread(status)]);
            }
        }
    }
    Ok(())
}

async fn check_bounds(reader: &AuditReader, all: &[(KeyKind, &str)], found: &mut Findings) -> Result<(), Error> {
    let deleted = all.iter().filter(|(owned, _)| matches!(owned, KeyKind::DeletedComments(_))).map(|(_, key)| *key);
    let sizes = reader.query(deleted.clone(), |key| cmd("ZCARD").arg(key).take()).await?;
    for key in deleted {
        if let Some(size) = sizes.read::<usize>(&key).filter(|size| *size > MAX_DELETED) {
            found.add_with(key, format!("holds more than {MAX_DELETED}"), size.to_string());
        }
    }
    for (owned, key) in all {
        let KeyKind::Log(status) = owned else { continue };
        let thread = keys::thread(*status);
        let last = reader.query([thread.as_str()], |key| cmd("HGET").arg(key).arg("last").take()).await?;
        let newest = reader.query([*key], |key| cmd("XREVRANGE").arg(key).arg("+").arg("-").arg("COUNT").arg(1).take()).await?;
        let size = reader.query([*key], |key| cmd("XLEN").arg(key).take()).await?;
        let newest: Vec<(String, Vec<String>)> = newest.read(key).unwrap_or_default();
        if newest.first().map(|(id, _)| id) != last.read::<Option<String>>(&thread.as_str()).flatten().as_ref() {
            let sync = Remedy::SyncLast { key: thread.clone(), stream: (*key).to_owned() };
            found.add_repairable(key, format!("its newest event is not the last in {thread}"), [sync]);
        }
        if let Some(size) = size.read::<usize>(key).filter(|size| *size > MAX_EVENTS) {
            found.add_with(key, format!("holds more than {MAX_EVENTS}"), size.to_string());
        }
    }
    Ok(())
}
