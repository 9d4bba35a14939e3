//! The HASH of a comment.

use super::super::model::{Comment, ID_BYTES, number_of};
use crate::base::error::Error;
use crate::base::ids::{CommentId, UserId};
use crate::domains::entities::TextEntities;

/// The fields that [`decode_comment`] takes.
pub(in super::super) const FIELDS: [&str; 12] =
    ["id", "uid", "message", "edited", "path", "up", "down", "replies", "places", "descendants", "others", "entities"];

/// Decodes a comment from its fields; `None` if the comment does not exist.
pub(in super::super) fn decode_comment(id: CommentId, mut fields: Vec<Option<Vec<u8>>>) -> Result<Option<Comment>, Error> {
    let mut text = |at: usize| {
        let bytes = fields.get_mut(at).and_then(Option::take);
        bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| Error::corrupt("bytes instead of a text"))).transpose()
    };
    if text(0)?.is_none() {
        return Ok(None);
    }
    let mut number = |at: usize| text(at)?.map(|text| text.parse::<u64>().map_err(Error::corrupt)).transpose();
    let (author, edited_at) = (number(1)?.map(UserId), number(3)?);
    let [up, down, replies, children, descendants, by_others] =
        [5, 6, 7, 8, 9, 10].map(|at| number(at).map(Option::unwrap_or_default));
    let message = text(2)?.unwrap_or_default();
    let entities = text(11)?.and_then(|record| TextEntities::parse(&record)).unwrap_or_default();
    let path = fields.get_mut(4).and_then(Option::take).unwrap_or_default();
    Ok(Some(Comment {
        id,
        author,
        message,
        entities,
        edited_at,
        path: path.chunks(ID_BYTES).map_while(number_of).collect(),
        up: up?,
        down: down?,
        replies: replies?,
        children: children?,
        descendants: descendants?,
        descendants_by_others: by_others?,
    }))
}
