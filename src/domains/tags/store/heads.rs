//! The newest statuses of tags, cached in the process: a home with a hundred followed tags reads all of them for every page.

use super::super::keys;
use super::cached_set::TagsOfSet;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId};
use crate::base::page::{Row, Window};
use crate::db::cached_reads::CachedRead;
use crate::db::{Db, EstimatedSize, ReadBarrier, decode, ranges};
use redis::{Cmd, Value, cmd};

/// Maximum number of statuses of a head: enough for most pages of a home, since all tags of the home share the entries of a page.
const HEAD_SIZE: usize = 32;

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
        cmd("ZRANGE").arg(key).arg(0).arg(HEAD_SIZE - 1).arg("REV").take()
    }

    /// A tag without statuses has an empty head.
    fn decode(reply: Value) -> Result<Option<Self>, Error> {
        Ok(Some(Self { ids: decode::ids(reply)?.iter().map(|row| row.member).collect() }))
    }

    /// The ids of a window, newest first, up to its limit; `None` if the window may have ids below the head.
    fn ids(&self, window: &Window) -> Option<&[u64]> {
        let from = self.ids.partition_point(|id| *id >= window.below);
        let to = self.ids.partition_point(|id| *id > window.above);
        let found = &self.ids[from.min(to)..to];
        // A window that ends within the head is complete.
        let is_whole = self.ids.len() < HEAD_SIZE || to < self.ids.len();
        let limit = window.limit.min(found.len());
        match window.newest_first {
            true if is_whole || limit == window.limit => Some(&found[..limit]),
            false if is_whole => Some(&found[found.len() - limit..]),
            _ => None,
        }
    }

    /// The rows of a window, in the window's order; `None` if the window may have rows below the head.
    fn rows(&self, window: &Window) -> Option<Vec<Row>> {
        let row = |id: &u64| Row { member: *id, position: *id };
        let ids = self.ids(window)?.iter();
        Some(if window.newest_first { ids.map(row).collect() } else { ids.rev().map(row).collect() })
    }
}

/// Windows of the statuses of tags, in the order of `windows`. A window that a cached head contains takes no command. One pipeline for the others.
pub(in crate::domains::tags) async fn windows(
    db: &Db,
    since: ReadBarrier,
    windows: &[(TagId, Window)],
) -> Result<Vec<Vec<Row>>, Error> {
    let mut found: Vec<Option<Vec<Row>>> = windows.iter().map(|(tag, window)| cached(db, since, tag, window)).collect();
    let missing = |at: &usize| found[*at].is_none();
    let is_head = |at: &usize| db.has_client_cache() && fits_in_head(&windows[*at].1);
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
    found
        .into_iter()
        .map(|rows| rows.ok_or_else(|| Error::corrupt("the cached head of a tag does not contain the requested window")))
        .collect()
}

fn cached(db: &Db, since: ReadBarrier, tag: &TagId, window: &Window) -> Option<Vec<Row>> {
    db.get_cached_one::<TagHead>(since, &keys::tag(tag))?.rows(window)
}

/// The first statuses of a window over all `tags` whose cached heads contain the window, in the window's order, and the other tags. No round trip.
pub(in crate::domains::tags) fn merge_cached(
    db: &Db,
    since: ReadBarrier,
    tags: &TagsOfSet,
    window: &Window,
) -> (Vec<StatusId>, Vec<TagId>) {
    let (mut first, mut others) = (FirstIds::new(window), Vec::new());
    for (tag, key) in tags.iter() {
        let head = db.get_cached_one::<TagHead>(since, key);
        match head.as_ref().and_then(|head| head.ids(window)) {
            Some(ids) => first.merge(ids),
            None => others.push(tag.clone()),
        }
    }
    (first.statuses(), others)
}

/// The first ids of a window over several lists, each once. A list that adds no id costs one comparison.
struct FirstIds {
    newest_first: bool,
    limit: usize,
    /// Sorted. The ids, or their bitwise complements if the newest are first.
    ranks: Vec<u64>,
}

impl FirstIds {
    fn new(window: &Window) -> Self {
        Self { newest_first: window.newest_first, limit: window.limit, ranks: Vec::with_capacity(window.limit.min(HEAD_SIZE)) }
    }

    /// Merges ids, the newest first.
    fn merge(&mut self, ids: &[u64]) {
        if self.newest_first {
            ids.iter().all(|id| self.insert(!id))
        } else {
            ids.iter().rev().all(|id| self.insert(*id))
        };
    }

    /// Inserts an id by its rank. Returns `false` if neither this id nor any id of a higher rank is among the first.
    fn insert(&mut self, rank: u64) -> bool {
        if self.ranks.len() == self.limit && self.ranks.last().is_none_or(|last| *last < rank) {
            return false;
        }
        if let Err(at) = self.ranks.binary_search(&rank) {
            self.ranks.insert(at, rank);
            self.ranks.truncate(self.limit);
        }
        true
    }

    fn statuses(self) -> Vec<StatusId> {
        let id = |rank: u64| StatusId(if self.newest_first { !rank } else { rank });
        self.ranks.into_iter().map(id).collect()
    }
}

/// Whether the head of any tag contains all rows of a window.
fn fits_in_head(window: &Window) -> bool {
    window.newest_first && window.below == u64::MAX && window.limit <= HEAD_SIZE
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
    fn lists_are_merged_in_both_orders_each_id_once() {
        let merged = |newest_first: bool, limit: usize| {
            let mut first = FirstIds::new(&Window { below: u64::MAX, above: 0, newest_first, limit });
            for ids in [&[9, 5, 1][..], &[], &[8, 5, 2], &[10, 9]] {
                first.merge(ids);
            }
            first.statuses().into_iter().map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(merged(true, 9), [10, 9, 8, 5, 2, 1]);
        assert_eq!(merged(true, 3), [10, 9, 8]);
        assert_eq!(merged(false, 9), [1, 2, 5, 8, 9, 10]);
        assert_eq!(merged(false, 3), [1, 2, 5]);
        assert_eq!(merged(true, 0), [0; 0]);
    }

    #[test]
    fn a_window_below_a_full_head_is_not_answered() {
        let head = head(100, HEAD_SIZE);
        let oldest = 101 - HEAD_SIZE as u64;
        assert_eq!(ids(&head, u64::MAX, 0, true, HEAD_SIZE).map(|ids| ids.len()), Some(HEAD_SIZE));
        assert_eq!(ids(&head, u64::MAX, 0, true, HEAD_SIZE + 1), None);
        assert_eq!(ids(&head, oldest + 2, 0, true, 2), Some(vec![oldest + 1, oldest]));
        assert_eq!(ids(&head, oldest + 2, 0, true, 3), None);
        assert_eq!(ids(&head, oldest, 0, true, 1), None);
        assert_eq!(ids(&head, u64::MAX, oldest, false, 1), Some(vec![oldest + 1]), "all above the oldest");
        assert_eq!(ids(&head, u64::MAX, oldest - 1, false, 1), None);
    }
}
