//! Pinned statuses in Redis.

use super::super::keys;
use super::super::model::MAX_PINS;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::cmd;

static PIN_STATUS: Script = Script::new(include_str!("../lua/pin_status.lua"));

/// Result of pinning a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum PinResult {
    /// It is pinned.
    Pinned,
    /// The account has no such status.
    NoStatus,
    LimitReached,
}

/// Pins a status of an account. One script on the account's hash tag.
pub(in super::super) async fn pin(db: &Db, user: UserId, id: StatusId, pin: u64) -> Result<PinResult, Error> {
    let call = Call::new(&PIN_STATUS, [keys::pins(user), keys::profile(user)]).arg(id.0).arg(pin).arg(MAX_PINS);
    Ok(match db.call::<i64>(call).await? {
        1 => PinResult::Pinned,
        0 => PinResult::NoStatus,
        _ => PinResult::LimitReached,
    })
}

/// Removes a pin of an account, if there is one. One command.
pub(in super::super) async fn unpin(db: &Db, user: UserId, id: StatusId) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::pins(user)).arg(id.0).take()]).await.map(drop)
}

/// The pinned statuses of accounts, newest pin first, in the order of `users`. One pipeline; no round trip if `users` is empty.
pub(in super::super) async fn read(db: &Db, users: &[UserId]) -> Result<Vec<Vec<StatusId>>, Error> {
    let command = |user: &UserId| cmd("ZRANGE").arg(keys::pins(*user)).arg(0).arg(MAX_PINS - 1).arg("REV").take();
    let replies = db.read_many(users.iter().map(command).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Vec<u64>>(reply)?.into_iter().map(StatusId).collect())).collect()
}
