//! Quotes in Redis: a status names the status that it quotes, and the quoted status has the set of the statuses that quote it.

use super::super::keys;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::base::page::{Row, Window};
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashValue};
use crate::db::script::{Call, Script};
use crate::db::{Db, ranges};

static SET_QUOTE: Script = Script::allow_oom(include_str!("../lua/set_quote.lua"));

/// A status that quotes nothing has no such field.
impl HashValue for Option<StatusId> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| text.0.parse().ok().map(StatusId))))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.map(|id| [id.0.to_string()])
    }
}

/// The quoted status in the tombstone of a status: its last part, `qID`.
pub(in super::super) fn parse_tombstone(tombstone: &str) -> Option<StatusId> {
    let (_, last) = tombstone.rsplit_once(' ')?;
    last.strip_prefix('q')?.parse().ok().filter(|id| *id > 0).map(StatusId)
}

/// Adds statuses to the sets of the statuses that they quote, or removes them, as pairs (quoted, quoting). Ignores quoted statuses that do not exist. One
/// pipeline of scripts.
pub(in super::super) async fn set(db: &Db, quotes: &[(StatusId, StatusId)], on: bool) -> Result<(), Error> {
    let call = |(quoted, id): &(StatusId, StatusId)| {
        Call::new(&SET_QUOTE, [keys::status(*quoted), keys::quotes(*quoted)]).arg(id.0).arg(u8::from(on))
    };
    db.call_many(quotes.iter().map(call).collect()).await.map(drop)
}

/// Windows of the statuses that quote a status. One pipeline.
pub(in super::super) async fn read(db: &Db, id: StatusId, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
    ranges::read(db, &keys::quotes(id), windows).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tombstone_names_the_quoted_status() {
        for (text, expected) in
            [("1 q7", Some(7)), ("1 5 6 q7", Some(7)), ("1", None), ("1 5 6", None), ("1 q", None), ("1 q0", None)]
        {
            assert_eq!(parse_tombstone(text), expected.map(StatusId), "{text}");
        }
    }
}
