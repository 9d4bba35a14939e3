//! Blocks in Redis.

use super::super::keys;
use super::super::model::{BlockState, MAX_BLOCKS};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::users::user_key;
use redis::cmd;

static BLOCK_USER: Script = Script::new(include_str!("../lua/block_user.lua"));

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

/// Blocks `b`: the commit, on the blocker's hash tag. One script.
pub(in super::super) async fn block(db: &Db, a: UserId, b: UserId, id: u64) -> Result<BlockResult, Error> {
    let call = Call::new(&BLOCK_USER, [keys::blocks(a), user_key(a)]).arg(b.0).arg(id).arg(MAX_BLOCKS);
    Ok(match db.call::<i64>(call).await? {
        -1 => BlockResult::NoAccount,
        -2 => BlockResult::LimitReached,
        id => BlockResult::Blocks(id.unsigned_abs()),
    })
}

/// Whether the first account of each pair blocks the second, as committed. One pipeline.
pub(in super::super) async fn are_blocks(db: &Db, pairs: &[(UserId, UserId)]) -> Result<Vec<bool>, Error> {
    let commands = pairs.iter().map(|(from, to)| cmd("ZSCORE").arg(keys::blocks(*from)).arg(to.0).take()).collect();
    let replies = db.read_many(commands).await?.into_iter();
    replies.map(|reply| decode::value::<Option<f64>>(reply).map(|score| score.is_some())).collect()
}

/// Whether each of two accounts blocks the other, as committed. One pipeline on both hash tags.
pub(in super::super) async fn state_between(db: &Db, a: UserId, b: UserId) -> Result<BlockState, Error> {
    let query = |from: UserId, to: UserId| cmd("ZSCORE").arg(keys::blocks(from)).arg(to.0).take();
    let mut replies = db.read_many(vec![query(a, b), query(b, a)]).await?.into_iter();
    let mut is_member = || decode::value::<Option<f64>>(replies.next().unwrap_or_default()).map(|score| score.is_some());
    Ok(BlockState { blocks: is_member()?, is_blocked: is_member()? })
}

/// The number of accounts that `id` blocks. One command.
pub(in super::super) async fn count(db: &Db, id: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::blocks(id)).take()).await
}
