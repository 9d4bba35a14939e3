//! What the publication and the delivery of events need of chats.

use super::super::keys;
use super::super::model::Member;
use super::corrupt;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::cmd;

static RAISE_PUBLISHED: Script = Script::allow_oom(include_str!("../lua/raise_published.lua"));

/// The row up to which all events of a chat were published, and its newest row; `None` for no such chat. One command.
pub(in super::super) async fn published(db: &Db, chat: ChatId) -> Result<Option<(u64, u64)>, Error> {
    let (published, newest): (Option<u64>, Option<u64>) =
        db.read(cmd("HMGET").arg(keys::chat(chat)).arg("published").arg("newest").take()).await?;
    Ok(newest.map(|newest| (published.unwrap_or(0), newest)))
}

/// The rows up to which all events of chats were published, in their order. One pipeline.
pub(in super::super) async fn published_rows(db: &Db, chats: &[ChatId]) -> Result<Vec<u64>, Error> {
    let commands = chats.iter().map(|chat| cmd("HGET").arg(keys::chat(*chat)).arg("published").take()).collect();
    let row = |reply| Ok(decode::value::<Option<u64>>(reply)?.unwrap_or(0));
    db.read_many(commands).await?.into_iter().map(row).collect()
}

/// Notes up to which row all events of a chat were published. One script.
pub(in super::super) async fn raise_published(db: &Db, chat: ChatId, row: u64) -> Result<(), Error> {
    db.call_untracked(vec![Call::new(&RAISE_PUBLISHED, [keys::chat(chat)]).arg(row)]).await.map(drop)
}

/// The members of chats, in their order; none for a chat that does not exist. One pipeline.
pub(in super::super) async fn members(db: &Db, chats: &[ChatId]) -> Result<Vec<Vec<(UserId, Member)>>, Error> {
    let commands = chats.iter().map(|chat| cmd("HGETALL").arg(keys::members(*chat)).take()).collect();
    let mut found = Vec::with_capacity(chats.len());
    for reply in db.read_many(commands).await? {
        let mut members = Vec::new();
        decode::fields(reply, |user, record| {
            let user = user.parse().map_err(|_| corrupt("a member"))?;
            members.push((UserId(user), Member::parse(&record.0).ok_or_else(|| corrupt("a membership"))?));
            Ok(())
        })?;
        found.push(members);
    }
    Ok(found)
}

/// Whether an account is a member of chats, and whether it was one, in their order. One pipeline; nothing for none.
pub(in super::super) async fn memberships(db: &Db, user: UserId, chats: &[ChatId]) -> Result<Vec<(bool, bool)>, Error> {
    if chats.is_empty() {
        return Ok(Vec::new());
    }
    let member = |chat: &ChatId| cmd("HEXISTS").arg(keys::members(*chat)).arg(user.0).take();
    let ids: Vec<u64> = chats.iter().map(|chat| chat.0).collect();
    let former = cmd("ZMSCORE").arg(keys::former(user)).arg(ids).take();
    let mut replies = db.read_many(chats.iter().map(member).chain([former]).collect()).await?;
    let former: Vec<Option<f64>> = replies.pop().map(decode::value).transpose()?.unwrap_or_default();
    let known = |(reply, former): (redis::Value, Option<f64>)| Ok((decode::value::<bool>(reply)?, former.is_some()));
    replies.into_iter().zip(former).map(known).collect()
}

/// Starts throttles of a member in chats, of this many ms; `false` where one is active. `account` is the hash of the member. One pipeline.
pub(in super::super) async fn acquire_throttles(
    db: &Db,
    throttle: Throttle,
    chats: &[ChatId],
    account: u64,
    for_ms: u64,
) -> Result<Vec<bool>, Error> {
    let set = |chat: &ChatId| {
        let key = match throttle {
            Throttle::Typing => keys::typing(*chat, account),
            Throttle::Positions => keys::positions_throttle(*chat, account),
        };
        cmd("SET").arg(key).arg(1).arg("NX").arg("PX").arg(for_ms).take()
    };
    let replies = db.write_many(chats.iter().map(set).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<Option<String>>(reply)?.is_some())).collect()
}

/// The events of a member that are throttled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Throttle {
    /// `TypingStarted`.
    Typing,
    /// Changes of its read and delivery positions.
    Positions,
}
