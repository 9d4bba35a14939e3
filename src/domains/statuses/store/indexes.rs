//! The text and the audience of a status, which decide under which names the status is indexed, read from the primary data.

use super::super::keys;
use super::super::model::Status;
use super::edits::parse_edit;
use crate::base::audience::ChosenAudience;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::{Db, decode};
use crate::domains::entities::TextEntities;
use crate::domains::users::user_key;
use redis::{Cmd, Value, cmd};

/// The current text of a status, and whether everybody can see the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct IndexedText {
    pub(in super::super) message: String,
    pub(in super::super) entities: TextEntities,
    /// The time at which the text was written.
    pub(in super::super) written_at: Millis,
    /// The stored field of the last edit; empty for a status that was never edited.
    pub(in super::super) last_edit: String,
    /// Whether the status and its author are public.
    pub(in super::super) is_public: bool,
}

impl IndexedText {
    /// The text of a new status.
    pub(in super::super) fn new(status: &Status, is_private: bool) -> Self {
        Self {
            message: status.message.clone(),
            entities: status.entities.clone(),
            written_at: status.posted_at,
            last_edit: String::new(),
            is_public: status.audience == ChosenAudience::Public && !is_private,
        }
    }

    fn read(author: UserId, fields: Value) -> Result<Option<Self>, Error> {
        let text = Self::parse(decode::value(fields)?).filter(|(by, _)| *by == author);
        Ok(text.map(|(_, text)| text))
    }

    /// Parses [`FIELDS`] of the HASH of a status, with its author; `None` if there is no status. The author counts as public.
    pub(in super::super) fn parse(
        [by, message, posted, entities, edited, audience]: [Option<String>; 6],
    ) -> Option<(UserId, Self)> {
        let last_edit = edited.unwrap_or_default();
        let posted_at = posted.and_then(|text| text.parse().ok()).unwrap_or_default();
        let text = Self {
            message: message?,
            entities: entities.and_then(|record| TextEntities::parse(&record)).unwrap_or_default(),
            written_at: parse_edit(&last_edit).map_or(posted_at, |edit| edit.at),
            last_edit,
            is_public: audience.is_none(),
        };
        Some((UserId(by?.parse().ok()?), text))
    }

    /// The id of the last edit; 0 for a status that was never edited.
    pub(in super::super) fn edit_id(&self) -> u64 {
        parse_edit(&self.last_edit).map_or(0, |edit| edit.id)
    }
}

/// The fields of the HASH of a status from which a text is parsed.
pub(in super::super) const FIELDS: [&str; 6] = ["uid", "message", "posted", "entities", "edited", "audience"];

/// The text of a status of `author`; `None` if there is no such status, or the account was deleted. One pipeline, not from the cache.
pub(in super::super) async fn read(db: &Db, author: UserId, id: StatusId) -> Result<Option<IndexedText>, Error> {
    let replies = db.read_many(read_text(author, id).into()).await?.into_iter();
    Ok(decode_text(author, replies)?.1)
}

/// The commands of [`read`].
pub(super) fn read_text(author: UserId, id: StatusId) -> [Cmd; 2] {
    let status = cmd("HMGET").arg(keys::status(id)).arg(&FIELDS).take();
    let account = cmd("HMGET").arg(user_key(author)).arg(&["id", "private"]).take();
    [status, account]
}

/// Decodes the replies to [`read_text`]: whether there is such a status of `author`, and its text; no text if the account was deleted.
pub(super) fn decode_text(
    author: UserId,
    mut replies: impl Iterator<Item = Value>,
) -> Result<(bool, Option<IndexedText>), Error> {
    let mut reply = || replies.next().unwrap_or_default();
    let text = IndexedText::read(author, reply())?;
    let (account, private): (Option<String>, Option<String>) = decode::value(reply())?;
    let exists = text.is_some();
    let text = text.filter(|_| account.is_some());
    Ok((exists, text.map(|text| IndexedText { is_public: text.is_public && private.is_none(), ..text })))
}

/// The texts of statuses of `author`, whether or not the account exists, in the order of `ids`; `None` for statuses of other authors and unknown ids.
/// The author counts as public. One pipeline.
pub(in super::super) async fn read_texts(db: &Db, author: UserId, ids: &[StatusId]) -> Result<Vec<Option<IndexedText>>, Error> {
    let commands = ids.iter().map(|id| cmd("HMGET").arg(keys::status(*id)).arg(&FIELDS).take()).collect();
    db.read_many(commands).await?.into_iter().map(|fields| IndexedText::read(author, fields)).collect()
}
