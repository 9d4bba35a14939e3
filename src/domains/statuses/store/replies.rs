//! Replies in Redis: the numbers of replies, reply policies, tombstones, and the recorded entries of deleted statuses with replies.

use super::super::keys;
use super::super::model::MAX_DELETED_WITH_REPLIES;
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId, UserId};
use crate::db::hash::HashValue;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::conversations::{ReplyPolicy, ReplyRef};
use crate::domains::users::user_key;
use redis::cmd;

static SET_REPLY_COUNT: Script = Script::allow_oom(include_str!("../lua/set_reply_count.lua"));
static CLEAR_PARENT_AUTHOR: Script = Script::allow_oom(include_str!("../lua/clear_parent_author.lua"));
static ADD_DELETED_WITH_REPLIES: Script = Script::allow_oom(include_str!("../lua/add_deleted_with_replies.lua"));
static SET_REPLY_POLICY: Script = Script::new(include_str!("../lua/set_reply_policy.lua"));

/// The entry of a deleted status in its conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct DeletedEntry {
    /// Its id.
    pub(in super::super) id: ConversationEntryId,
    /// The status that it replied to; `None` for the root.
    pub(in super::super) parent: Option<StatusId>,
}

impl DeletedEntry {
    /// Parses the entry from the tombstone of a status, `1 parent root`, which may end with the quoted status; `None` if the status was in no conversation.
    pub(in super::super) fn parse(status: StatusId, tombstone: &str) -> Option<Self> {
        let mut ids = tombstone.split(' ').skip(1).map(|text| text.parse::<u64>().ok().map(StatusId));
        let (parent, root) = (ids.next()??, ids.next()??);
        Some(Self { id: ConversationEntryId { root, status }, parent: Some(parent).filter(|parent| parent.0 > 0) })
    }
}

/// The tombstones of deleted statuses, in the order of `ids`; empty for statuses that exist, or were deleted more than 25 hours ago. One pipeline.
pub(in super::super) async fn tombstones(db: &Db, ids: &[StatusId]) -> Result<Vec<String>, Error> {
    let commands = ids.iter().map(|id| cmd("GET").arg(keys::tombstone(*id)).take()).collect();
    let replies = db.read_many(commands).await?.into_iter();
    replies.map(|reply| Ok(decode::value::<Option<String>>(reply)?.unwrap_or_default())).collect()
}

/// Whether a status was deleted in the last 25 hours. One command.
pub(in super::super) async fn was_deleted(db: &Db, id: StatusId) -> Result<bool, Error> {
    db.read(cmd("EXISTS").arg(keys::tombstone(id)).take()).await
}

/// Sets the number of replies of a status; `false` if there is no such status. One script.
pub(in super::super) async fn set_count(db: &Db, id: StatusId, replies: u32) -> Result<bool, Error> {
    db.call(Call::new(&SET_REPLY_COUNT, [keys::status(id)]).arg(replies).arg(0)).await
}

/// Raises the number of replies of a status to at least this; `false` if there is no such status. One script.
pub(in super::super) async fn raise_count(db: &Db, id: StatusId, replies: u32) -> Result<bool, Error> {
    db.call(Call::new(&SET_REPLY_COUNT, [keys::status(id)]).arg(replies).arg(1)).await
}

/// Sets who may reply to a status of `author`; `false` if there is no such status. One script.
pub(in super::super) async fn set_policy(db: &Db, id: StatusId, author: UserId, policy: ReplyPolicy) -> Result<bool, Error> {
    let policy = policy.write().map(|[name]| name).unwrap_or_default();
    db.call(Call::new(&SET_REPLY_POLICY, [keys::status(id)]).arg(author.0).arg(policy)).await
}

/// Clears the parent's author in replies; ignores other statuses. One pipeline of scripts.
pub(in super::super) async fn clear_parent_authors(db: &Db, ids: &[StatusId]) -> Result<(), Error> {
    let calls = ids.iter().map(|id| Call::new(&CLEAR_PARENT_AUTHOR, [keys::status(*id)]));
    db.call_many(calls.collect()).await.map(drop)
}

/// Records the entry of a deleted status of `author` to which there are replies; `false` if the account was deleted. One script.
pub(in super::super) async fn add_deleted_with_replies(
    db: &Db,
    author: UserId,
    entry: ConversationEntryId,
) -> Result<bool, Error> {
    let call = Call::new(&ADD_DELETED_WITH_REPLIES, [keys::deleted_with_replies(author), user_key(author)]);
    db.call(call.arg(encode_entry(entry)).arg(entry.status.0).arg(MAX_DELETED_WITH_REPLIES)).await
}

/// Up to `limit` recorded entries of deleted statuses of an account, the oldest statuses first. One command.
pub(in super::super) async fn deleted_with_replies(
    db: &Db,
    author: UserId,
    limit: usize,
) -> Result<Vec<ConversationEntryId>, Error> {
    let members: Vec<Vec<u8>> =
        db.read(cmd("ZRANGE").arg(keys::deleted_with_replies(author)).arg(0).arg(limit.max(1) - 1).take()).await?;
    Ok(members.iter().filter_map(|member| decode_entry(member)).collect())
}

/// Removes recorded entries of an account. One command; no round trip if `entries` is empty.
pub(in super::super) async fn remove_deleted_with_replies(
    db: &Db,
    author: UserId,
    entries: &[ConversationEntryId],
) -> Result<(), Error> {
    if entries.is_empty() {
        return Ok(());
    }
    let members: Vec<Vec<u8>> = entries.iter().map(|entry| encode_entry(*entry)).collect();
    db.write_many(vec![cmd("ZREM").arg(keys::deleted_with_replies(author)).arg(members).take()]).await.map(drop)
}

fn encode_entry(entry: ConversationEntryId) -> Vec<u8> {
    [entry.root, entry.status].iter().flat_map(|id| id.0.to_be_bytes().into_iter().skip(1)).collect()
}

fn decode_entry(member: &[u8]) -> Option<ConversationEntryId> {
    let (root, status) = member.split_at_checked(7)?;
    let id = |bytes: &[u8]| StatusId(bytes.iter().fold(0, |id, byte| id << 8 | u64::from(*byte)));
    (status.len() == 7).then(|| ConversationEntryId { root: id(root), status: id(status) })
}

/// The numbers of likes of the replies among statuses. One pipeline.
pub(in super::super) async fn likes(db: &Db, ids: &[StatusId]) -> Result<Vec<(ConversationEntryId, u64)>, Error> {
    let commands = ids.iter().map(|id| cmd("HMGET").arg(keys::status(*id)).arg(&["likes", "reply"]).take()).collect();
    let mut found = Vec::new();
    for (status, reply) in ids.iter().zip(db.read_many(commands).await?) {
        let (likes, reply): (Option<u64>, Option<String>) = decode::value(reply)?;
        let reply = reply.map(|text| <Option<ReplyRef>>::read([Some(decode::StoredText(text))])).transpose()?.flatten().flatten();
        found.extend(reply.map(|reply| (ConversationEntryId { root: reply.root, status: *status }, likes.unwrap_or_default())));
    }
    Ok(found)
}
