//! Tags and mentions in Redis.

pub(super) mod cached_set;
pub(super) mod follows;
pub(super) mod heads;
pub(super) mod sets;

use super::keys;
use super::model::{MAX_MENTIONS, MAX_TAGGED};
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserId};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;

static ADD_MENTION: Script = Script::new(include_str!("lua/add_mention.lua"));

/// Adds a status to tags and to the mentions of accounts, and removes the oldest statuses beyond the limits. One pipeline; no round trip if `tags` and
/// `mentioned` are empty.
pub(super) async fn add(db: &Db, status: StatusId, tags: &[&TagId], mentioned: &[UserId]) -> Result<(), Error> {
    let tag_calls = tags.iter().flat_map(|tag| {
        let key = keys::tag(tag);
        let add = cmd("ZADD").arg(&key).arg(status.0).arg(status.0).take();
        // Removes at most a hundred at once: more are beyond the limit only if the limit was higher before.
        let last = -(MAX_TAGGED as i64) - 1;
        let trim = cmd("ZREMRANGEBYRANK").arg(&key).arg(last - 99).arg(last).take();
        [Call::plain(add), Call::plain(trim)]
    });
    let mention_calls = mentioned
        .iter()
        .map(|user| Call::new(&ADD_MENTION, [keys::mentions(*user), user_key(*user)]).arg(status.0).arg(MAX_MENTIONS));
    let calls: Vec<Call> = tag_calls.chain(mention_calls).collect();
    if calls.is_empty() { Ok(()) } else { db.call_many(calls).await.map(drop) }
}

/// Removes a status from tags and from the mentions of accounts. One pipeline; no round trip if `tags` and `mentioned` are empty.
pub(super) async fn remove(db: &Db, status: StatusId, tags: &[&TagId], mentioned: &[UserId]) -> Result<(), Error> {
    let keys = tags.iter().map(|tag| keys::tag(tag)).chain(mentioned.iter().map(|user| keys::mentions(*user)));
    let commands: Vec<_> = keys.map(|key| cmd("ZREM").arg(key).arg(status.0).take()).collect();
    if commands.is_empty() { Ok(()) } else { db.write_many(commands).await.map(drop) }
}

/// Windows of the statuses that mention an account. One pipeline.
pub(super) async fn mentions(db: &Db, user: UserId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    let commands = windows.iter().map(|window| ranges::ids_command(&keys::mentions(user), window)).collect();
    db.read_many(commands).await?.into_iter().map(decode::ids).collect()
}

/// The numbers of statuses of tags, in their order. One pipeline.
pub(super) async fn counts(db: &Db, tags: &[TagId]) -> Result<Vec<u64>, Error> {
    let commands = tags.iter().map(|tag| cmd("ZCARD").arg(keys::tag(tag)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value).collect()
}

/// Deletes the mentions of an account. One command.
pub(super) async fn purge_mentions(db: &Db, user: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::mentions(user)).take()]).await.map(drop)
}
