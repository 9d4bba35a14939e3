//! The newest statuses of tags, cached in the process: a home with a hundred followed tags reads all of them for every page.

use super::super::keys;
use crate::base::error::Error;
use crate::base::ids::TagId;
use crate::base::page::{Row, Window};
use crate::db::cached_reads::CachedRead;
use crate::db::{Db, EstimatedSize, ReadBarrier, decode, ranges};
use redis::{Cmd, Value, cmd};
use std::sync::Arc;

/// The most statuses of a head: those of a page of a home, of which the tags of the home share the entries.
const HEAD: usize = 32;

/// The newest statuses of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagHead {
    /// The ids, newest first.
    ids: Vec<u64>,
}

impl EstimatedSize for TagHead {
    fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.ids.as_slice())
    }
}

impl TagHead {
    fn command(key: &str) -> Cmd {
        cmd("ZRANGE").arg(key).arg(0).arg(HEAD - 1).arg("REV").take()
    }

    /// A tag without statuses has an empty head.
    fn decode(reply: Value) -> Result<Option<Self>, Error> {
        Ok(Some(Self { ids: decode::ids(reply)?.iter().map(|row| row.member).collect() }))
    }

    /// The rows of a window in its order; `None` if it may have rows below the head.
    fn rows(&self, window: &Window) -> Option<Vec<Row>> {
        let from = self.ids.partition_point(|id| *id >= window.below);
        let to = self.ids.partition_point(|id| *id > window.above);
        let found = &self.ids[from.min(to)..to];
        // A window that ends within the head is complete.
        let is_whole = self.ids.len() < HEAD || to < self.ids.len();
        let row = |id: &u64| Row { member: *id, position: *id };
        match window.newest_first {
            true if is_whole || found.len() >= window.limit => Some(found.iter().take(window.limit).map(row).collect()),
            false if is_whole => Some(found.iter().rev().take(window.limit).map(row).collect()),
            _ => None,
        }
    }
}

/// Windows of the statuses of tags, in their order. What the cached heads contain takes no command. One pipeline for the rest, or none.
pub(in crate::domains::tags) async fn windows(
    db: &Db,
    since: ReadBarrier,
    windows: &[(TagId, Window)],
) -> Result<Vec<Vec<Row>>, Error> {
    let mut found: Vec<Option<Vec<Row>>> = windows.iter().map(|(tag, window)| cached(db, since, tag, window)).collect();
    let missing = |at: &usize| found[*at].is_none();
    let is_head = |at: &usize| db.has_client_cache() && is_answered_by_head(&windows[*at].1);
    let (heads, others): (Vec<usize>, Vec<usize>) = (0..windows.len()).filter(missing).partition(is_head);
    let key = |at: &usize| keys::tag(&windows[*at].0);
    let commands = others.iter().map(|at| ranges::ids_command(&key(at), &windows[*at].1)).collect();
    let read: CachedRead<TagHead> = (TagHead::command, TagHead::decode);
    let (new, rows) = db.read_cached_by(since, heads.iter().map(key).collect(), read, |_| commands).await?;
    for (at, head) in heads.into_iter().zip(new) {
        found[at] = head.and_then(|head| head.rows(&windows[at].1));
    }
    for (at, rows) in others.into_iter().zip(rows) {
        found[at] = Some(decode::ids(rows)?);
    }
    found.into_iter().map(|rows| rows.ok_or_else(|| Error::corrupt("a head does not contain a window"))).collect()
}

fn cached(db: &Db, since: ReadBarrier, tag: &TagId, window: &Window) -> Option<Vec<Row>> {
    let head: Arc<TagHead> = db.get_cached(since, [keys::tag(tag)].into_iter(), |_| true)?.pop()?;
    head.rows(window)
}

/// Whether the head of any tag contains all rows of a window.
fn is_answered_by_head(window: &Window) -> bool {
    window.newest_first && window.below == u64::MAX && window.limit <= HEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A head of the ids from `newest` down.
    fn head(newest: u64, length: usize) -> TagHead {
        TagHead { ids: (0..length as u64).map(|at| newest - at).collect() }
    }

    fn ids(head: &TagHead, below: u64, above: u64, newest_first: bool, limit: usize) -> Option<Vec<u64>> {
        let rows = head.rows(&Window { below, above, newest_first, limit })?;
        Some(rows.into_iter().map(|row| row.member).collect())
    }

    #[test]
    fn a_short_head_is_the_whole_tag() {
        let head = head(10, 4);
        assert_eq!(ids(&head, u64::MAX, 0, true, 3), Some(vec![10, 9, 8]));
        assert_eq!(ids(&head, u64::MAX, 0, true, 9), Some(vec![10, 9, 8, 7]));
        assert_eq!(ids(&head, 9, 0, true, 9), Some(vec![8, 7]));
        assert_eq!(ids(&head, 9, 7, true, 9), Some(vec![8]));
        assert_eq!(ids(&head, u64::MAX, 0, false, 2), Some(vec![7, 8]));
        assert_eq!(ids(&head, 3, 0, true, 2), Some(vec![]));
        assert_eq!(ids(&head, 5, 9, true, 2), Some(vec![]), "a window without positions");
        assert_eq!(ids(&self::head(10, 0), u64::MAX, 0, true, 2), Some(vec![]));
    }

    #[test]
    fn a_window_below_a_full_head_is_not_answered() {
        let head = head(100, HEAD);
        let oldest = 101 - HEAD as u64;
        assert_eq!(ids(&head, u64::MAX, 0, true, HEAD).map(|ids| ids.len()), Some(HEAD));
        assert_eq!(ids(&head, u64::MAX, 0, true, HEAD + 1), None);
        assert_eq!(ids(&head, oldest + 2, 0, true, 2), Some(vec![oldest + 1, oldest]));
        assert_eq!(ids(&head, oldest + 2, 0, true, 3), None);
        assert_eq!(ids(&head, oldest, 0, true, 1), None);
        assert_eq!(ids(&head, u64::MAX, oldest, false, 1), Some(vec![oldest + 1]), "all above the oldest");
        assert_eq!(ids(&head, u64::MAX, oldest - 1, false, 1), None);
    }
}
