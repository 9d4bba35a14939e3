//! The sets of the accounts that like a status or have marked it, after its deletion.

use super::super::keys;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::db::{Db, decode, ranges};
use redis::cmd;

/// Up to `limit` accounts of a set of each deleted status; no accounts for a status that exists. One pipeline.
pub(super) async fn list_remaining(
    db: &Db,
    ids: &[StatusId],
    set: impl Fn(StatusId) -> String,
    limit: usize,
) -> Result<Vec<(StatusId, Vec<UserId>)>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit };
    // The set is read first: if the status does not exist afterwards, it was deleted, or the set was empty.
    let commands =
        ids.iter().flat_map(|id| [ranges::command(&set(*id), &window), cmd("EXISTS").arg(keys::status(*id)).take()]).collect();
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        let rows = decode::rows(replies.next().unwrap_or_default())?;
        let status_exists: bool = decode::value(replies.next().unwrap_or_default())?;
        let members = if status_exists { Vec::new() } else { rows.into_iter().map(|row| UserId(row.member)).collect() };
        found.push((*id, members));
    }
    Ok(found)
}

/// Removes accounts from a set of each status. One pipeline; no round trip without accounts.
pub(super) async fn remove(db: &Db, accounts: &[(StatusId, Vec<UserId>)], set: impl Fn(StatusId) -> String) -> Result<(), Error> {
    let not_empty = accounts.iter().filter(|(_, users)| !users.is_empty());
    let members = |users: &[UserId]| users.iter().map(|user| user.0).collect::<Vec<_>>();
    let command = |(id, users): &(StatusId, Vec<UserId>)| cmd("ZREM").arg(set(*id)).arg(members(users)).take();
    db.write_many(not_empty.map(command).collect()).await.map(drop)
}
