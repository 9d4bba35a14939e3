//! The rule against repeated reposts: a feed omits a repost if one of the next older entries has the same status, as itself or as another repost. The rule
//! counts only entries that the viewer can see. It is applied when the feed is read, and its result does not depend on the size of pages.
//!
//! Whether an older entry is visible is known only after it was hydrated. So the rule computes a lower and an upper bound of the visible entries, and
//! an older entry is hydrated only if the result depends on it. Most reposts are decided without hydrating any older entry.

use super::super::feed_row::FeedRow;
use crate::base::clock::MINUTE;
use crate::base::ids::{StatusId, source};
use std::collections::HashMap;

/// The number of older rows that are searched for the same status. Hidden rows count, too, so that the work of a request is bounded.
pub(super) const DISTANCE: usize = 1_000;
/// The number of visible statuses (not reposts) between a repost and the same status from which on both are shown.
const MAX_BETWEEN: usize = 100;
/// The largest difference by which the id of a repost may be lower than the id of its status: a minute, by which the clocks of two servers may differ.
const MAX_SKEW: u64 = source::compose(source::EPOCH + MINUTE, 0, 0);
/// Maximum number of statuses between a repost and the same status that are hydrated at once to decide about the repost.
const BATCH: usize = 150;

/// The decision about a repost, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RepeatState {
    /// The same status follows: the repost is omitted.
    Repeated,
    /// The same status does not follow: the repost is shown.
    First,
    /// The decision depends on whether these older rows are visible.
    DependsOn(Vec<FeedRow>),
}

/// Decides whether a repost of `status` is repeated. `older` are the rows below the repost, newest first; `is_visible` is `None` for a row that is
/// not hydrated yet.
fn repeat_state(status: StatusId, older: &[FeedRow], is_visible: impl Fn(&FeedRow) -> Option<bool>) -> RepeatState {
    let is_same = |row: &FeedRow| row.status == status && is_visible(row) != Some(false);
    let Some(at) = older.iter().take(DISTANCE).position(is_same) else { return RepeatState::First };
    // Bounds of the number of visible statuses in between, without reposts.
    let between = || older[..at].iter().filter(|row| row.reposter.is_none());
    let lower_bound = between().filter(|row| is_visible(row) == Some(true)).count();
    let upper_bound = between().filter(|row| is_visible(row) != Some(false)).count();
    if lower_bound >= MAX_BETWEEN {
        return RepeatState::First;
    }
    let is_unknown = |row: &&FeedRow| is_visible(row).is_none();
    let own = older[at..=at].iter().filter(is_unknown);
    let unknown: Vec<FeedRow> = match upper_bound < MAX_BETWEEN {
        true => own.copied().collect(),
        false => own.chain(between().filter(is_unknown).take(BATCH)).copied().collect(),
    };
    if unknown.is_empty() { RepeatState::Repeated } else { RepeatState::DependsOn(unknown) }
}

/// The rows below the reposts of a page.
pub(super) struct OlderRows {
    /// The number of rows below each repost that are searched.
    distance: usize,
    /// The reposts, newest first. Each has the place where the rows below it begin, once they were read: the index in `lists`, and the index in that
    /// list.
    reposts: Vec<(FeedRow, Option<(usize, usize)>)>,
    /// Lists of successive rows.
    lists: Vec<Vec<FeedRow>>,
}

impl OlderRows {
    /// Creates an empty value; `distance` rows below each repost are searched.
    pub(super) const fn new(distance: usize) -> Self {
        Self { distance, reposts: Vec::new(), lists: Vec::new() }
    }

    /// The number of rows below a repost that are searched.
    pub(super) const fn distance(&self) -> usize {
        self.distance
    }

    /// Adds reposts, in any order, whose older rows are not read yet.
    pub(super) fn add_reposts(&mut self, reposts: &[FeedRow]) {
        self.reposts.extend(reposts.iter().map(|row| (*row, None)));
        self.reposts.sort_unstable_by_key(|(row, _)| std::cmp::Reverse(row.position));
        self.reposts.dedup_by_key(|(row, _)| row.position);
    }

    /// The positions between which rows must be read: below the newest repost whose older rows are not read, and above the oldest status of all such
    /// reposts. A status cannot have been reposted before it was posted.
    pub(super) fn next_unread(&self) -> Option<(u64, u64)> {
        let unread = || self.reposts.iter().filter(|(_, start)| start.is_none());
        let oldest = unread().map(|(row, _)| row.status.0).min()?;
        Some((unread().next()?.0.position, oldest.saturating_sub(MAX_SKEW)))
    }

    /// Adds the rows below the repost at position `below`, newest first, of which at most `limit` were read. Other reposts among these rows use them,
    /// too, if the list has enough rows below them.
    pub(super) fn add_rows(&mut self, below: u64, rows: Vec<FeedRow>, limit: usize) {
        let (list, is_end) = (self.lists.len(), rows.len() < limit);
        for (repost, start) in self.reposts.iter_mut().filter(|(_, start)| start.is_none()) {
            if repost.position == below {
                *start = Some((list, 0));
            } else if let Ok(at) = rows.binary_search_by(|row| repost.position.cmp(&row.position)) {
                let is_enough = is_end || rows.len() - (at + 1) >= self.distance;
                *start = is_enough.then_some((list, at + 1));
            }
        }
        self.lists.push(rows);
    }

    fn below(&self, start: Option<(usize, usize)>) -> &[FeedRow] {
        let rows = start.and_then(|(list, from)| self.lists.get(list)?.get(from..)).unwrap_or_default();
        &rows[..rows.len().min(self.distance)]
    }

    /// The rows that must be hydrated to decide about the reposts, each once.
    pub(super) fn undecided(&self, are_visible: &HashMap<u64, bool>) -> Vec<FeedRow> {
        let mut rows = Vec::new();
        // A repost that is hidden anyway needs no decision.
        for (repost, start) in self.reposts.iter().filter(|(repost, _)| are_visible.get(&repost.position) != Some(&false)) {
            let known = |row: &FeedRow| are_visible.get(&row.position).copied();
            if let RepeatState::DependsOn(unknown) = repeat_state(repost.status, self.below(*start), known) {
                rows.extend(unknown);
            }
        }
        rows.sort_unstable_by_key(|row| row.position);
        rows.dedup();
        rows
    }

    /// Whether a repost is omitted because the same status follows.
    pub(super) fn is_repeat(&self, repost: &FeedRow, are_visible: &HashMap<u64, bool>) -> bool {
        let start = self.reposts.iter().find(|(row, _)| row == repost).and_then(|(_, start)| *start);
        let known = |row: &FeedRow| are_visible.get(&row.position).copied();
        repeat_state(repost.status, self.below(start), known) == RepeatState::Repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;

    const STATUS: StatusId = StatusId(1);

    fn repost(position: u64, status: u64) -> FeedRow {
        FeedRow { position, status: StatusId(status), reposter: Some(UserId(3)) }
    }

    /// The rows below a repost at 9,000: statuses, then reposts of other statuses, then the status itself.
    fn older(statuses: u64, reposts: u64) -> Vec<FeedRow> {
        let own = (0..statuses).map(|at| FeedRow::of_status(8_999 - at));
        let others = (0..reposts).map(|at| repost(8_999 - statuses - at, 5_000 + at));
        own.chain(others).chain([FeedRow::of_status(STATUS.0)]).collect()
    }

    #[test]
    fn a_repost_is_left_out_while_its_status_follows_soon() {
        for (statuses, reposts, expected) in [
            (0, 0, true),
            (99, 0, true),
            (100, 0, false),
            (99, 300, true),
            (0, 998, true),
            (0, 999, true),
            (0, 1_000, false),
            (99, 900, true),
            (99, 901, false),
            (100, 1, false),
        ] {
            let rows = older(statuses, reposts);
            let is_repeated = repeat_state(STATUS, &rows, |_| Some(true)) == RepeatState::Repeated;
            assert_eq!(is_repeated, expected, "{statuses} statuses and {reposts} reposts between");
        }
        assert_eq!(repeat_state(STATUS, &[repost(5, STATUS.0)], |_| Some(true)), RepeatState::Repeated, "another repost");
        assert_eq!(repeat_state(STATUS, &[], |_| Some(true)), RepeatState::First);
    }

    #[test]
    fn hidden_entries_do_not_count() {
        let rows = older(120, 0);
        let hides = |hidden: u64| move |row: &FeedRow| Some(row.position <= 8_999 - hidden);
        assert_eq!(repeat_state(STATUS, &rows, hides(20)), RepeatState::First, "100 between");
        assert_eq!(repeat_state(STATUS, &rows, hides(21)), RepeatState::Repeated, "99 between");
        let hides_status = |row: &FeedRow| Some(row.status != STATUS);
        assert_eq!(repeat_state(STATUS, &older(0, 0), hides_status), RepeatState::First, "the status is not shown to the viewer");
    }

    #[test]
    fn only_rows_that_decide_are_hydrated() {
        let unknown = |_: &FeedRow| None;
        assert_eq!(repeat_state(STATUS, &older(0, 0)[..0], unknown), RepeatState::First);
        let rows = older(50, 0);
        assert_eq!(repeat_state(STATUS, &rows, unknown), RepeatState::DependsOn(vec![rows[50]]), "whatever the others are");
        assert_eq!(repeat_state(StatusId(77), &older(500, 400), unknown), RepeatState::First, "it does not follow at all");
        let RepeatState::DependsOn(needed) = repeat_state(STATUS, &older(500, 0), unknown) else { panic!("undecided") };
        assert_eq!(needed.len(), BATCH + 1);
    }

    #[test]
    fn rows_serve_all_reposts_with_enough_below_them() {
        let page = [repost(9_000, 1), FeedRow::of_status(8_999), repost(8_998, 2), repost(10, 3)];
        let mut older = OlderRows::new(DISTANCE);
        older.add_reposts(&[page[3], page[0], page[2]]);
        assert_eq!(older.next_unread(), Some((9_000, 0)));
        let rows: Vec<FeedRow> =
            (0..1_004_u64).map(|at| 8_999 - at).map(|at| if at == 8_998 { page[2] } else { FeedRow::of_status(at) }).collect();
        older.add_rows(9_000, rows, 1_004);
        assert_eq!(older.next_unread(), Some((10, 0)), "a row elsewhere is read for itself");
        older.add_rows(10, vec![FeedRow::of_status(3)], 1_004);
        assert_eq!(older.next_unread(), None);
        assert_eq!(older.below(older.reposts[1].1).first(), Some(&FeedRow::of_status(8_997)));
    }
}
