//! Removes the data of deleted accounts, and of chats that have ended.

use super::super::keys;
use super::super::model::ChatRow;
use super::{CHAT_PRELUDE, ChatDb, corrupt, retention};
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::script::Script;
use crate::db::{Db, decode};
use redis::cmd;
use std::ops::Range;

static PURGE_TEXTS: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/purge_texts.lua"));
static PURGE_ROWS: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/purge_rows.lua"));
static PURGE_MEMBER: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/purge_member.lua"));
static RECORD_FORMER: Script = Script::allow_oom_after(CHAT_PRELUDE, include_str!("../lua/record_former.lua"));

/// Stops counting text messages of a deleted account in a group as unread: at most `most`. Returns their number. One script.
pub(in super::super) async fn purge_texts(db: ChatDb<'_>, chat: ChatId, user: UserId, most: u64) -> Result<u64, Error> {
    db.call(db.script(&PURGE_TEXTS, chat, Vec::new(), 0).arg(user.0).arg(most)).await
}

/// Removes a deleted account from a bucket of rows. Returns the numbers of the texts by others to which the account has reacted. A
/// script and two pipelines.
pub(in super::super) async fn purge_rows(db: ChatDb<'_>, chat: ChatId, bucket: u64, user: UserId) -> Result<Vec<u64>, Error> {
    let call = db.script(&PURGE_ROWS, chat, vec![keys::rows(chat, bucket)], bucket).arg(user.0);
    let (with_reactions, deleted): (Vec<String>, Vec<u64>) = db.call(call).await?;
    let unlink = deleted.iter().map(|sequence| cmd("UNLINK").arg(keys::reactions(chat, *sequence)).take());
    db.write_many(unlink.collect()).await?;
    let mut queries = Vec::new();
    for pair in with_reactions.chunks_exact(2) {
        let sequence: u64 = pair[0].parse().map_err(|_| corrupt("a row"))?;
        let emoji = pair[1].split(',').filter_map(|reaction| reaction.rsplit_once(':'));
        let members: Vec<String> = emoji.map(|(emoji, _)| format!("{emoji} {}", user.0)).collect();
        queries.push((sequence, cmd("ZMSCORE").arg(keys::reactions(chat, sequence)).arg(members).take()));
    }
    let replies = db.read_many(queries.iter().map(|(_, command)| command.clone()).collect()).await?;
    let mut reacted = Vec::new();
    for ((sequence, _), reply) in queries.iter().zip(replies) {
        if decode::value::<Vec<Option<f64>>>(reply)?.iter().any(Option::is_some) {
            reacted.push(*sequence);
        }
    }
    Ok(reacted)
}

/// The result of [`purge_member`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum PurgeMemberResult {
    /// The other account of a direct chat remains.
    Peer(UserId),
    /// The chat is a group, or does not exist any more.
    Done,
    /// The direct chat has ended with this account.
    Gone,
}

/// Removes a deleted account from the record of a chat and from those that have left, and from a direct chat its membership and positions; `nobody` is an id
/// that no account has. One script.
pub(in super::super) async fn purge_member(
    db: ChatDb<'_>,
    chat: ChatId,
    user: UserId,
    nobody: UserId,
) -> Result<PurgeMemberResult, Error> {
    let reply: String = db.call(db.script(&PURGE_MEMBER, chat, Vec::new(), 0).arg(user.0).arg(nobody.0)).await?;
    Ok(match reply.as_str() {
        "gone" => PurgeMemberResult::Gone,
        other => {
            other.parse().ok().filter(|id| *id > 0).map_or(PurgeMemberResult::Done, |id| PurgeMemberResult::Peer(UserId(id)))
        }
    })
}

/// The last deleted row of a chat, and its newest one, whether or not it has ended; `None` if there is no such chat. One command.
pub(in super::super) async fn bounds(db: &Db, chat: ChatId) -> Result<Option<(u64, u64)>, Error> {
    let [removed, newest]: [Option<u64>; 2] =
        db.read(cmd("HMGET").arg(keys::chat(chat)).arg(&["removed", "newest"]).take()).await?;
    Ok(newest.map(|newest| (removed.unwrap_or(0), newest)))
}

/// Reads buckets of rows of a chat that has ended: the accounts that the rows name, and the numbers of the rows with reactions. One pipeline.
pub(in super::super) async fn read_rows(db: &Db, chat: ChatId, buckets: Range<u64>) -> Result<(Vec<UserId>, Vec<u64>), Error> {
    let fields: Vec<redis::Cmd> = buckets.map(|bucket| cmd("HGETALL").arg(keys::rows(chat, bucket)).take()).collect();
    let (mut accounts, mut reacted) = (Vec::new(), Vec::new());
    for reply in db.read_many(fields).await? {
        decode::fields(reply, |number, row| {
            let row = ChatRow::parse(&row.0);
            let has_reactions = row.as_ref().is_none_or(|row| !row.reactions.is_empty());
            accounts.extend(row.into_iter().flat_map(|row| [row.sender, row.subject]).flatten());
            reacted.extend(number.parse::<u64>().ok().filter(|_| has_reactions));
            Ok(())
        })?;
    }
    Ok((accounts, reacted))
}

/// Records that an account, which is no member, has left a group, unless this is recorded; `id` is unique. One script.
pub(in super::super) async fn record_former(db: ChatDb<'_>, chat: ChatId, user: UserId, id: u64) -> Result<(), Error> {
    db.call::<u64>(db.script(&RECORD_FORMER, chat, Vec::new(), 0).arg(user.0).arg(id)).await.map(drop)
}

/// The accounts that have left a group: at most `most`, those that left first. One command.
pub(in super::super) async fn former_members(db: &Db, chat: ChatId, most: usize) -> Result<Vec<UserId>, Error> {
    let ids: Vec<u64> = db.read(cmd("ZRANGE").arg(keys::left(chat)).arg(0).arg(most - 1).take()).await?;
    Ok(ids.into_iter().map(UserId).collect())
}

/// Deletes buckets of rows of a chat that has ended, with the reactions to them, and the records of accounts that had left it. One pipeline.
pub(in super::super) async fn purge_chat_rows(
    db: &Db,
    chat: ChatId,
    buckets: Range<u64>,
    reacted: &[u64],
    left: &[UserId],
) -> Result<(), Error> {
    let reactions = reacted.iter().map(|sequence| keys::reactions(chat, *sequence));
    let rows = buckets.map(|bucket| keys::rows(chat, bucket));
    let mut commands: Vec<redis::Cmd> = reactions.chain(rows).map(|key| cmd("UNLINK").arg(key).take()).collect();
    if !left.is_empty() {
        let ids: Vec<u64> = left.iter().map(|user| user.0).collect();
        commands.push(cmd("ZREM").arg(keys::left(chat)).arg(ids).take());
    }
    db.write_many(commands).await.map(drop)
}

/// Deletes the record of a chat that has ended, and its entries in the schedules. Two pipelines.
pub(in super::super) async fn delete_record(db: &Db, chat: ChatId) -> Result<(), Error> {
    // The record last, so that a pass that is repeated finds the chat.
    retention::unschedule(db, chat).await?;
    db.write_many(vec![cmd("UNLINK").arg(keys::chat(chat)).take()]).await.map(drop)
}
