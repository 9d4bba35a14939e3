//! Conversations in Redis.

use super::keys;
use super::model::{ENTRIES_PER_PASS, ID_BYTES, MAX_ID, MAX_UNDELETED_STATUSES, ReplyPolicy, ReplyRef, ReplySort, StoredEntry};
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId, UserId};
use crate::base::page::{ListPosition, Row, Window};
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashValue};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};

/// Scripts in a pipeline of a bulk load.
const SCRIPTS_PER_PIPELINE: usize = 1_000;
const CONVERSATION_PRELUDE: &str = include_str!("lua/conversation.lua");
static ADD_ENTRY: Script = Script::after(CONVERSATION_PRELUDE, include_str!("lua/add_entry.lua"));
static REMOVE_ENTRY: Script = Script::allow_oom_after(CONVERSATION_PRELUDE, include_str!("lua/remove_entry.lua"));
static SET_ENTRY_LIKES: Script = Script::allow_oom_after(CONVERSATION_PRELUDE, include_str!("lua/set_entry_likes.lua"));
static READ_ANCESTORS: Script = Script::after(CONVERSATION_PRELUDE, include_str!("lua/read_ancestors.lua"));

/// The stored form: `parent root depth author`, all in decimal; the author is 0 if the account was deleted.
impl HashValue for Option<ReplyRef> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| parse_reply(&text.0))))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.map(|it| [format!("{} {} {} {}", it.parent.0, it.root.0, it.depth, it.parent_author.map_or(0, |author| author.0))])
    }
}

/// Parses the stored form of a [`ReplyRef`]; `None` if it is invalid.
pub(super) fn parse_reply(text: &str) -> Option<ReplyRef> {
    let mut parts = text.split(' ').map(|part| part.parse::<u64>().ok());
    let mut next = || parts.next().flatten();
    let (parent, root, depth, author) = (next()?, next()?, next()?, next()?);
    let depth = u32::try_from(depth).ok().filter(|depth| parent > 0 && root > 0 && *depth > 0)?;
    let parent_author = Some(UserId(author)).filter(|author| author.0 > 0);
    Some(ReplyRef { parent: StatusId(parent), root: StatusId(root), depth, parent_author })
}

/// A status to which everyone may reply has no such field. An unknown policy counts as [`ReplyPolicy::Nobody`].
impl HashValue for ReplyPolicy {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map_or(Self::Everyone, |text| Self::from_name(&text.0).unwrap_or(Self::Nobody))))
    }

    fn write(&self) -> Option<[String; 1]> {
        (*self != Self::Everyone).then(|| [self.name().to_owned()])
    }
}

pub(super) fn bytes_of(id: u64) -> [u8; ID_BYTES] {
    let [_, bytes @ ..] = id.to_be_bytes();
    bytes
}

pub(super) fn id_of(bytes: &[u8]) -> Option<StatusId> {
    let id = bytes.iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
    (bytes.len() == ID_BYTES && id > 0).then_some(StatusId(id))
}

fn call(script: &'static Script, root: StatusId) -> Call {
    Call::new(script, [keys::entries(root), keys::by_posting(root), keys::by_likes(root)])
}

/// Result of adding an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddReplyResult {
    /// The reply has an entry, which was added now or before. Contains the number of replies to the parent.
    Added(u32),
    /// The parent has no entry, or was deleted.
    NoParent,
    /// The conversation has the maximum number of statuses.
    LimitReached,
    /// The reply was deleted.
    Deleted,
}

/// Adds a reply. One script.
pub(super) async fn add(db: &Db, root: StatusId, parent: StatusId, reply: StatusId) -> Result<AddReplyResult, Error> {
    let call = add_call(ConversationEntryId { root, status: reply }, parent);
    let (depth, replies): (i64, u32) = db.call(call).await?;
    Ok(match depth {
        0 => AddReplyResult::NoParent,
        -1 => AddReplyResult::LimitReached,
        -2 => AddReplyResult::Deleted,
        _ => AddReplyResult::Added(replies),
    })
}

fn add_call(reply: ConversationEntryId, parent: StatusId) -> Call {
    let ids = [parent, reply.status, reply.root];
    ids.iter().fold(call(&ADD_ENTRY, reply.root), |call, id| call.arg(&bytes_of(id.0)[..])).arg(MAX_UNDELETED_STATUSES)
}

/// Adds replies below their parents, in the order of `replies`. A pipeline of scripts for every thousand replies.
pub(super) async fn add_many(db: &Db, replies: &[(ConversationEntryId, StatusId)]) -> Result<(), Error> {
    for part in replies.chunks(SCRIPTS_PER_PIPELINE) {
        for reply in db.call_many(part.iter().map(|(reply, parent)| add_call(*reply, *parent)).collect()).await? {
            let (depth, _): (i64, u32) = decode::value(reply)?;
            if depth < 1 {
                return Err(Error::corrupt("an imported reply that has no entry"));
            }
        }
    }
    Ok(())
}

/// Marks the status of an entry as deleted, and removes the entries of deleted statuses that have no entries below them. Returns the entry with which to
/// continue. One script.
pub(super) async fn remove(db: &Db, entry: ConversationEntryId) -> Result<Option<ConversationEntryId>, Error> {
    let call = call(&REMOVE_ENTRY, entry.root).arg(&bytes_of(entry.status.0)[..]).arg(ENTRIES_PER_PASS);
    let next = db.call::<Option<Vec<u8>>>(call).await?;
    Ok(next.and_then(|id| Some(ConversationEntryId { status: id_of(&id)?, ..entry })))
}

/// Moves replies in their orders by likes. One pipeline of scripts; no round trip if `likes` is empty.
pub(super) async fn set_likes(db: &Db, likes: &[(ConversationEntryId, u64)]) -> Result<(), Error> {
    let set = |(entry, likes): &(ConversationEntryId, u64)| {
        call(&SET_ENTRY_LIKES, entry.root).arg(&bytes_of(entry.status.0)[..]).arg((*likes).min(u64::from(u32::MAX)))
    };
    db.call_many(likes.iter().map(set).collect()).await.map(drop)
}

/// The entries, in the order of `ids`; `None` for those that are not there. One pipeline.
pub(super) async fn entries(db: &Db, ids: &[ConversationEntryId]) -> Result<Vec<Option<StoredEntry>>, Error> {
    db.read_many(ids.iter().map(read_entry).collect()).await?.into_iter().map(decode_entry).collect()
}

/// The command that reads an entry, for pipelines with other data.
pub fn read_entry(id: &ConversationEntryId) -> Cmd {
    cmd("HGET").arg(keys::entries(id.root)).arg(&bytes_of(id.status.0)[..]).take()
}

/// Decodes the reply to [`read_entry`]; `None` if there is no such entry.
///
/// # Errors
/// Internal for a reply of another type.
pub fn decode_entry(reply: Value) -> Result<Option<StoredEntry>, Error> {
    Ok(decode::value::<Option<Vec<u8>>>(reply)?.as_deref().and_then(parse_entry))
}

/// Parses a record of `lua/conversation.lua`; `None` if it is invalid.
pub(super) fn parse_entry(record: &[u8]) -> Option<StoredEntry> {
    let (deleted, rest) = record.split_first()?;
    let (parent, rest) = rest.split_at_checked(ID_BYTES)?;
    let number = |at: usize| Some(u32::from_be_bytes(rest.get(4 * at..4 * at + 4)?.try_into().ok()?));
    Some(StoredEntry {
        is_deleted: *deleted == 1,
        parent: id_of(parent),
        depth: number(0)?,
        replies: number(1)?,
        children: number(2)?,
        likes: number(3)?,
    })
}

/// The ancestors of an entry at the depths `from..to`, from the top; `None` if there is no such entry. One script at any depth.
pub(super) async fn ancestors(
    db: &Db,
    id: ConversationEntryId,
    from: u32,
    to: u32,
) -> Result<Option<Vec<(ConversationEntryId, StoredEntry)>>, Error> {
    let call = call(&READ_ANCESTORS, id.root).arg(&bytes_of(id.status.0)[..]).arg(from).arg(to);
    let reply = db.call_read_only(vec![call]).await?.pop().unwrap_or_default();
    let Some(found) = decode::value::<Option<Vec<Option<Vec<u8>>>>>(reply)? else { return Ok(None) };
    let ancestor = |pair: &[Option<Vec<u8>>]| {
        let [Some(status), Some(record)] = pair else { return None };
        Some((ConversationEntryId { status: id_of(status)?, ..id }, parse_entry(record)?))
    };
    found
        .chunks(2)
        .map(ancestor)
        .collect::<Option<Vec<_>>>()
        .map(Some)
        .ok_or_else(|| Error::corrupt("an entry without its ancestors"))
}

/// Windows of the direct replies of an entry in an order, in the order of `windows`. One pipeline.
pub(super) async fn replies(
    db: &Db,
    entry: ConversationEntryId,
    sort: ReplySort,
    windows: &[Window<u128>],
) -> Result<Vec<Vec<Row<u128>>>, Error> {
    let found = db.read_many(windows.iter().map(|window| window_command(entry, sort, window)).collect()).await?;
    let rows = |reply| {
        let members: Vec<Vec<u8>> = decode::value(reply)?;
        let row = |member: &Vec<u8>| row_of(sort, member).ok_or_else(|| Error::corrupt("a reply in an order"));
        members.iter().map(row).collect()
    };
    found.into_iter().map(rows).collect()
}

fn window_command(entry: ConversationEntryId, sort: ReplySort, window: &Window<u128>) -> Cmd {
    let (key, is_reversed) = match sort {
        ReplySort::Old => (keys::by_posting(entry.root), false),
        ReplySort::New => (keys::by_posting(entry.root), true),
        ReplySort::Likes => (keys::by_likes(entry.root), true),
    };
    let (below, above) = (bound(entry.status, sort, window.below), bound(entry.status, sort, window.above));
    let mut range = cmd("ZRANGE");
    range.arg(key);
    // The largest position has the smallest member in the order from the oldest on.
    let (first, last) = if window.newest_first { (below, above) } else { (above, below) };
    range.arg(first).arg(last).arg("BYLEX");
    if is_reversed == window.newest_first {
        range.arg("REV");
    }
    range.arg("LIMIT").arg(0).arg(window.limit);
    range
}

/// A position as an exclusive bound of members below a parent.
fn bound(parent: StatusId, sort: ReplySort, position: u128) -> Vec<u8> {
    let mut bytes = [b"(", &bytes_of(parent.0)[..]].concat();
    let is_top = position == u128::TOP;
    if is_top && sort != ReplySort::Old || position == u128::BOTTOM && sort == ReplySort::Old {
        bytes.extend([u8::MAX; 16]);
    } else if !is_top && position != u128::BOTTOM {
        match sort {
            ReplySort::Old => bytes.extend(bytes_of(MAX_ID - position.min(u128::from(MAX_ID)) as u64)),
            ReplySort::New => bytes.extend(bytes_of(position as u64)),
            ReplySort::Likes => bytes.extend(&position.to_be_bytes()[16 - 4 - ID_BYTES..]),
        }
    }
    bytes
}

/// The reply that a member names, and its position.
fn row_of(sort: ReplySort, member: &[u8]) -> Option<Row<u128>> {
    let own = member.get(ID_BYTES..)?;
    let id = id_of(own.get(own.len().checked_sub(ID_BYTES)?..)?)?.0;
    let number = own.iter().fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
    let position = if sort == ReplySort::Old { u128::from(MAX_ID - id) } else { number };
    Some(Row { member: id, position })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_survives_the_round_trip() {
        let reply = ReplyRef { parent: StatusId(MAX_ID), root: StatusId(7), depth: 3, parent_author: Some(UserId(9)) };
        let [text] = Some(reply).write().expect("a field");
        assert_eq!(parse_reply(&text), Some(reply));
        for invalid in ["", "1", "1 2 3", "1 2 0 4", "a 2 3 4", "1 2 99999999999 4"] {
            assert_eq!(parse_reply(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn positions_are_ordered_as_the_sort_says() {
        let parent = bytes_of(1);
        let member = |likes: u32, id: u64| [&parent[..], &likes.to_be_bytes(), &bytes_of(id)].concat();
        let posted = |id: u64| [&parent[..], &bytes_of(id)].concat();
        let position = |sort, member: &[u8]| row_of(sort, member).expect("a row").position;
        assert!(position(ReplySort::New, &posted(9)) > position(ReplySort::New, &posted(8)));
        assert!(position(ReplySort::Old, &posted(9)) < position(ReplySort::Old, &posted(8)));
        assert!(position(ReplySort::Likes, &member(2, 1)) > position(ReplySort::Likes, &member(1, 9)));
        assert!(position(ReplySort::Likes, &member(1, 9)) > position(ReplySort::Likes, &member(1, 8)));
        for (sort, member) in [(ReplySort::New, posted(9)), (ReplySort::Old, posted(9)), (ReplySort::Likes, member(5, 9))] {
            let row = row_of(sort, &member).expect("a row");
            assert_eq!(row.member, 9);
            assert_eq!(bound(StatusId(1), sort, row.position)[1..], member, "{sort:?}");
        }
    }
}
