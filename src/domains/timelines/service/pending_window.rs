//! Windows of feeds, and their rows while they are read.

use super::super::feed_row::FeedRow;
use super::super::model::FeedMetadata;
use crate::base::page::Window;
use crate::platform::journal::Feed;

/// A window of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FeedWindow {
    /// The feed.
    pub feed: Feed,
    /// The window.
    pub window: Window,
}

/// A window that is being filled.
pub(super) struct PendingWindow {
    pub(super) key: FeedWindow,
    pub(super) metadata: FeedMetadata,
    pub(super) rows: Vec<FeedRow>,
    /// The rows of the feed's tags that are below the floor.
    pub(super) tagged: Vec<FeedRow>,
}

impl PendingWindow {
    /// The position from which on the entries are complete.
    pub(super) fn floor(&self) -> u64 {
        self.metadata.state.complete_from()
    }

    /// The part of the window from the floor up.
    pub(super) fn upper(&self) -> Window {
        let window = self.key.window;
        Window { above: window.above.max(self.floor().saturating_sub(1)), ..window }
    }

    /// The part below the floor, if any.
    fn lower(&self) -> Option<Window> {
        let window = self.key.window;
        let below = window.below.min(self.floor());
        (window.above.saturating_add(1) < below && window.above < self.floor()).then_some(Window { below, ..window })
    }

    /// The part below the floor that must still be read after the part above it; `None` if nothing is missing.
    pub(super) fn missing(&self) -> Option<Window> {
        // With the oldest first, rows below the floor come before the others.
        let limit = self.key.window.limit;
        let limit = if self.key.window.newest_first { limit.saturating_sub(self.rows.len()) } else { limit };
        self.lower().filter(|_| limit > 0).map(|lower| Window { limit, ..lower })
    }

    /// Adds the rows of the feed's tags from the floor up, and keeps the others until the part below the floor is read: they must not count as a part
    /// of it.
    pub(super) fn add_tagged(&mut self, rows: Vec<FeedRow>) {
        let floor = self.floor();
        let (upper, lower): (Vec<FeedRow>, Vec<FeedRow>) = rows.into_iter().partition(|row| row.position >= floor);
        self.tagged = lower;
        self.add(upper);
    }

    /// Adds the rows of the feed's tags below the floor, after the part below the floor was read.
    pub(super) fn finish(mut self) -> Vec<FeedRow> {
        let tagged = std::mem::take(&mut self.tagged);
        if !tagged.is_empty() {
            self.add(tagged);
        }
        self.rows
    }

    /// Adds rows, in the window's order, up to its limit.
    pub(super) fn add(&mut self, rows: impl IntoIterator<Item = FeedRow>) {
        self.rows.extend(rows);
        keep_first(&mut self.rows, &self.key.window);
    }
}

/// Keeps the rows that a window begins with, in its order, each once.
pub(super) fn keep_first(rows: &mut Vec<FeedRow>, window: &Window) {
    if window.newest_first {
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.position));
    } else {
        rows.sort_unstable_by_key(|row| row.position);
    }
    rows.dedup_by_key(|row| row.position);
    rows.truncate(window.limit);
}
