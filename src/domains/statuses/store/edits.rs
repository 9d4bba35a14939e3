//! Edits of statuses in Redis: the current text is in the HASH of the status, and the versions before it are in a LIST beside it.

use super::super::keys;
use super::super::model::{Edit, MAX_EDITS, StatusVersion};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashValue};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::entities::TextEntities;
use redis::cmd;
use std::ops::RangeInclusive;

static EDIT_STATUS: Script = Script::new(include_str!("../lua/edit_status.lua"));

/// The stored form: `id at number`. A status that was never edited has no such field. An invalid field counts as no edit, so that the text can be read.
impl HashValue for Option<Edit> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| parse_edit(&text.0))))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.map(|Edit { id, at, number }| [format!("{id} {at} {number}")])
    }
}

/// Parses the stored form of an [`Edit`]; `None` if it is invalid.
pub(in super::super) fn parse_edit(text: &str) -> Option<Edit> {
    let mut parts = text.split(' ');
    let mut next = || parts.next()?.parse::<u64>().ok();
    let (id, at, number) = (next()?, next()?, next()?);
    (id > 0 && number > 0 && parts.next().is_none()).then(|| Some(Edit { id, at, number: usize::try_from(number).ok()? }))?
}

/// Parses the stored form of a version, `edit at entities`, a newline and the text; `None` if it is invalid.
pub(in super::super) fn parse_version(record: &str) -> Option<StatusVersion> {
    let (head, message) = record.split_once('\n')?;
    let mut parts = head.splitn(3, ' ');
    let (edit, at, entities) = (parts.next()?, parts.next()?, parts.next()?);
    Some(StatusVersion {
        edit: edit.parse().ok()?,
        created_at: at.parse().ok()?,
        message: message.to_owned(),
        entities: TextEntities::parse(entities)?,
    })
}

/// The result of changing the text of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EditResult {
    /// It is changed.
    Edited,
    /// The author has no such status.
    NotFound,
    /// It has this text.
    Unchanged,
    /// It has too many versions.
    LimitReached,
}

/// Changes the text of a status of `author`: the commit. One script on the status's hash tag.
pub(in super::super) async fn edit(
    db: &Db,
    id: StatusId,
    author: UserId,
    (message, entities): (&str, &TextEntities),
    (edit, now): (u64, Millis),
) -> Result<EditResult, Error> {
    let entities = entities.write().map(|[record]| record).unwrap_or_default();
    let call = Call::new(&EDIT_STATUS, [keys::status(id), keys::versions(id)]).arg(author.0).arg(message).arg(entities);
    Ok(match db.call::<u8>(call.arg(edit).arg(now).arg(MAX_EDITS)).await? {
        1 => EditResult::Edited,
        0 => EditResult::NotFound,
        2 => EditResult::Unchanged,
        _ => EditResult::LimitReached,
    })
}

/// The versions of a status whose numbers are in `range`, each with its number. The number of the first version is 0. Versions that do not exist or
/// cannot be read are left out; a status that does not exist has no versions. One pipeline.
pub(in super::super) async fn versions(
    db: &Db,
    id: StatusId,
    range: RangeInclusive<usize>,
) -> Result<Vec<(usize, StatusVersion)>, Error> {
    // The current text is read first: if it was edited between the two commands, it is in the list.
    let fields = cmd("HMGET").arg(keys::status(id)).arg(&["posted", "message", "entities", "edited"]).take();
    let list = |from, to| cmd("LRANGE").arg(keys::versions(id)).arg(from).arg(to).take();
    let mut replies = db.read_many(vec![fields, list(*range.start(), *range.end())]).await?.into_iter();
    let mut next = || replies.next().unwrap_or_default();
    let (posted, message, entities, edited): (Option<u64>, Option<String>, Option<String>, Option<String>) =
        decode::value(next())?;
    let before: Vec<String> = decode::value(next())?;
    let (Some(posted), Some(message)) = (posted, message) else { return Ok(Vec::new()) };
    let edit = edited.as_deref().and_then(parse_edit);
    let number = edit.map_or(0, |edit| edit.number);
    let is_listed = (*range.start()..).zip(&before).any(|(listed, _)| listed == number);
    let numbered = (*range.start()..).zip(before.iter().map(|record| parse_version(record)));
    let mut found: Vec<_> = numbered.filter_map(|(number, version)| Some((number, version?))).collect();
    if range.contains(&number) && !is_listed {
        let (edit, created_at) = edit.map_or((0, posted), |edit| (edit.id, edit.at));
        let entities = entities.and_then(|record| TextEntities::parse(&record)).unwrap_or_default();
        found.push((number, StatusVersion { edit, created_at, message, entities }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_survives_the_round_trip() {
        let edit = Edit { id: u64::MAX, at: 5, number: 50 };
        let [text] = Some(edit).write().expect("a field");
        assert_eq!(parse_edit(&text), Some(edit));
        for invalid in ["", "1", "1 2", "0 5 1", "1 2 0", "1 2 3 4", "a 1 1", "1 -2 1"] {
            assert_eq!(parse_edit(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn a_version_is_parsed() {
        let version = parse_version("7 9 @0-4\n@ada says\nhello").expect("a version");
        assert_eq!((version.edit, version.created_at, version.message.as_str()), (7, 9, "@ada says\nhello"));
        assert_eq!(version.entities.to_string(), "@0-4");
        assert!(parse_version("0 9 \nhi").expect("a version").entities.is_empty());
        for invalid in ["", "7 9 hello", "7 9\nhello", "7 x \nhello", "7 9 nothing\nhello"] {
            assert_eq!(parse_version(invalid), None, "{invalid}");
        }
    }
}
