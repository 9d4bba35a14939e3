//! The primary data with which the derived data of a status is compared, in one pipeline.

use super::super::keys;
use super::indexes::{self, IndexedText};
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, StatusId, UserId};
use crate::db::{Db, decode};
use crate::domains::conversations::{decode_entry, read_entry};
use redis::cmd;

/// The primary data of a status, as it is stored now.
#[derive(Debug)]
pub(in super::super) struct PrimaryData {
    /// Whether there is such a status of the author.
    pub(in super::super) exists: bool,
    /// Its text; `None` if there is no such status, the account was deleted, or the text was not requested.
    pub(in super::super) text: Option<IndexedText>,
    /// The number of replies to its parent; 0 without a parent.
    pub(in super::super) replies_to_parent: u32,
}

/// Whether a status of `author` exists, its text if `with_text`, and the number of replies to its parent. One pipeline, not from the cache.
pub(in super::super) async fn read(
    db: &Db,
    author: UserId,
    id: StatusId,
    parent: Option<ConversationEntryId>,
    with_text: bool,
) -> Result<PrimaryData, Error> {
    let mut commands = parent.iter().map(read_entry).collect::<Vec<_>>();
    match with_text {
        true => commands.extend(indexes::read_text(author, id)),
        false => commands.push(cmd("HGET").arg(keys::status(id)).arg("uid").take()),
    }
    let mut replies = db.read_many(commands).await?.into_iter();
    let entry = if parent.is_some() { decode_entry(replies.next().unwrap_or_default())? } else { None };
    let replies_to_parent = entry.map_or(0, |entry| entry.replies);
    let (exists, text) = match with_text {
        true => indexes::decode_text(author, replies)?,
        false => {
            let stored_author: Option<u64> = decode::value(replies.next().unwrap_or_default())?;
            (stored_author == Some(author.0), None)
        }
    };
    Ok(PrimaryData { exists, text, replies_to_parent })
}
