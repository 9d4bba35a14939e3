//! Homes in Redis.

use super::keys;
use super::load::{HomeKey, HomePart};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::error::Error;
use crate::graph::following_key;
use crate::ids::{StatusId, UserId};
use crate::page::{Row, Window};
use redis::{Cmd, cmd};

static PUSH_HOME: Script = Script::new(include_str!("lua/push_home.lua"));
static SWEEP_HOME: Script = Script::new(include_str!("lua/sweep_home.lua"));

/// The most statuses that one script puts into a home.
pub(super) const MERGE: usize = 1_000;

/// Parts of homes, in their order. One pipeline; what a head costs is a window of one.
pub(super) async fn read(db: &Db, parts: &[HomeKey]) -> Result<Vec<Vec<Row>>, Error> {
    let newest = Window { below: u64::MAX, above: 0, newest_first: true, limit: 1 };
    let command = |part: &HomeKey| match part.part {
        HomePart::Head => ranges::command(&keys::home(part.owner), &newest),
        HomePart::Window(window) => ranges::command(&keys::home(part.owner), &window),
    };
    db.read_many(parts.iter().map(command).collect()).await?.into_iter().map(decode::rows).collect()
}

/// Puts one status into many homes, each while its owner follows the author. One pipeline of scripts.
pub(super) async fn push(db: &Db, owners: &[UserId], author: UserId, status: StatusId, window: usize) -> Result<(), Error> {
    let call = |owner: &UserId| {
        let follow = if *owner == author { -1 } else { 0 };
        Call::new(&PUSH_HOME, [keys::home(*owner), following_key(*owner)]).arg(author.0).arg(follow).arg(window).arg(status.0)
    };
    db.call_many(owners.iter().map(call).collect()).await.map(drop)
}

/// How many entries a home has, and the place of its oldest (0 without any). One pipeline.
pub(super) async fn extent(db: &Db, owner: UserId) -> Result<(usize, u64), Error> {
    let oldest = Window { below: u64::MAX, above: 0, newest_first: false, limit: 1 };
    let commands = vec![cmd("ZCARD").arg(keys::home(owner)).take(), ranges::command(&keys::home(owner), &oldest)];
    let mut replies = db.read_many(commands).await?.into_iter();
    let count = decode::one(replies.next().unwrap_or_default())?;
    let oldest = decode::rows(replies.next().unwrap_or_default())?;
    Ok((count, oldest.first().map_or(0, |row| row.position)))
}

/// Puts statuses of an author into one home, while that very follow stands (`None` for the owner's own). One script.
pub(super) async fn merge(
    db: &Db,
    owner: UserId,
    author: UserId,
    follow: Option<u64>,
    window: usize,
    ids: &[StatusId],
) -> Result<bool, Error> {
    let ids = numbers(ids);
    let keys = [keys::home(owner), following_key(owner)];
    let follow = follow.map_or_else(|| "-1".to_owned(), |follow| follow.to_string());
    db.call(Call::new(&PUSH_HOME, keys).arg(author.0).arg(follow).arg(window).arg(ids)).await
}

/// Takes an author's statuses out of one home, unless its owner follows them (again): `false` then. One script.
pub(super) async fn sweep(db: &Db, owner: UserId, author: UserId, ids: &[StatusId]) -> Result<bool, Error> {
    db.call(Call::new(&SWEEP_HOME, [keys::home(owner), following_key(owner)]).arg(author.0).arg(numbers(ids))).await
}

fn numbers(ids: &[StatusId]) -> Vec<u64> {
    ids.iter().take(MERGE).map(|id| id.0).collect()
}

/// Takes statuses out of homes. One pipeline; none costs nothing.
pub(super) async fn remove(db: &Db, owners: &[UserId], ids: &[StatusId]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let members = numbers(ids);
    let commands = owners.iter().map(|owner| cmd("ZREM").arg(keys::home(*owner)).arg(&members).take()).collect();
    db.write_many(commands).await.map(drop)
}

/// Plain writes for bulk loads.
pub(super) struct BulkCommands;

impl BulkCommands {
    /// Statuses of a home, no more than its window.
    pub(super) fn home(owner: UserId, ids: &[StatusId]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::home(owner));
        for id in ids {
            command.arg(id.0).arg(id.0);
        }
        command
    }
}
