//! Blocks in Redis.

use super::super::keys;
use super::super::model::{BlockState, MAX_BLOCKS};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static BLOCK_USER: Script = Script::new(include_str!("../lua/block_user.lua"));
static UNBLOCK_USERS: Script = Script::allow_oom(include_str!("../lua/unblock_users.lua"));
static ADD_BLOCKER: Script = Script::allow_oom(include_str!("../lua/add_blocker.lua"));
static REMOVE_BLOCKERS: Script = Script::allow_oom(include_str!("../lua/remove_blockers.lua"));

/// Result of writing a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum BlockResult {
    /// The id of the block: the new one, or the one that existed.
    Blocks(u64),
    /// The blocker's account was deleted.
    NoAccount,
    /// The limit is reached.
    LimitReached,
}

/// Blocks `b`: the commit, on the blocker's tag. One script.
pub(in super::super) async fn block(db: &Db, a: UserId, b: UserId, id: u64) -> Result<BlockResult, Error> {
    let call = Call::new(&BLOCK_USER, [keys::blocks(a), user_key(a)]).arg(b.0).arg(id).arg(MAX_BLOCKS);
    Ok(match db.call::<i64>(call).await? {
        -1 => BlockResult::NoAccount,
        -2 => BlockResult::LimitReached,
        id => BlockResult::Blocks(id.unsigned_abs()),
    })
}

/// Removes blocks of `a`: the commit, on the blocker's tag. One script; nothing for none.
pub(in super::super) async fn unblock(db: &Db, a: UserId, others: &[UserId]) -> Result<(), Error> {
    if others.is_empty() {
        return Ok(());
    }
    let call = Call::new(&UNBLOCK_USERS, [keys::blocks(a), user_key(a)]);
    db.call::<u64>(others.iter().fold(call, |call, other| call.arg(other.0))).await.map(drop)
}

/// Removes the blocks of `b` by many accounts. One pipeline of scripts; nothing for none.
pub(in super::super) async fn unblock_by(db: &Db, blockers: &[UserId], b: UserId) -> Result<(), Error> {
    let call = |blocker: &UserId| Call::new(&UNBLOCK_USERS, [keys::blocks(*blocker), user_key(*blocker)]).arg(b.0);
    db.call_many(blockers.iter().map(call).collect()).await.map(drop)
}

/// The id of `a`'s block of `b`; `None` without one, and for a deleted account. One pipeline on the blocker's tag.
pub(in super::super) async fn block_id(db: &Db, a: UserId, b: UserId) -> Result<Option<u64>, Error> {
    let commands = vec![cmd("EXISTS").arg(user_key(a)).take(), cmd("ZSCORE").arg(keys::blocks(a)).arg(b.0).take()];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let (exists, id): (bool, Option<f64>) = (decode::one(reply())?, decode::one(reply())?);
    Ok(id.filter(|_| exists).map(|id| id as u64))
}

/// Whether each of two accounts blocks the other, as committed. One pipeline on both tags.
pub(in super::super) async fn state_between(db: &Db, a: UserId, b: UserId) -> Result<BlockState, Error> {
    let query = |from: UserId, to: UserId| cmd("ZSCORE").arg(keys::blocks(from)).arg(to.0).take();
    let mut replies = db.read_many(vec![query(a, b), query(b, a)]).await?.into_iter();
    let mut is_there = || decode::one::<Option<f64>>(replies.next().unwrap_or_default()).map(|score| score.is_some());
    Ok(BlockState { blocks: is_there()?, is_blocked: is_there()? })
}

/// Writes the other side of a block; `false` if that account was deleted. One script.
pub(in super::super) async fn add_blocker(db: &Db, b: UserId, a: UserId, id: u64) -> Result<bool, Error> {
    db.call(Call::new(&ADD_BLOCKER, [keys::blockers(b), user_key(b)]).arg(a.0).arg(id)).await
}

/// Removes `a` from the other sides of blocks. One pipeline of scripts; nothing for none.
pub(in super::super) async fn remove_blocker(db: &Db, others: &[UserId], a: UserId) -> Result<(), Error> {
    let call = |other: &UserId| Call::new(&REMOVE_BLOCKERS, [keys::blockers(*other), user_key(*other)]).arg(a.0);
    db.call_many(others.iter().map(call).collect()).await.map(drop)
}

/// Removes accounts from the accounts that block `b`. One script; nothing for none.
pub(in super::super) async fn remove_blockers(db: &Db, b: UserId, blockers: &[UserId]) -> Result<(), Error> {
    if blockers.is_empty() {
        return Ok(());
    }
    let call = Call::new(&REMOVE_BLOCKERS, [keys::blockers(b), user_key(b)]);
    db.call::<u64>(blockers.iter().fold(call, |call, blocker| call.arg(blocker.0))).await.map(drop)
}

/// The number of accounts that `id` blocks. One command.
pub(in super::super) async fn count(db: &Db, id: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::blocks(id)).take()).await
}

/// Windows of the accounts that `id` blocks. One pipeline.
pub(in super::super) async fn blocks(db: &Db, id: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::blocks(id), windows).await
}

/// Windows of the accounts that block `id`. One pipeline.
pub(in super::super) async fn blockers(db: &Db, id: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::blockers(id), windows).await
}
