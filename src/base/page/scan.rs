//! Windows of a list that are read until a page is full.

use super::{ListPosition, MAX, Page, PageRequest, Row, Window};

/// Maximum number of rows of a window if most rows are dropped.
const MAX_WINDOW: usize = 1_000;

/// A window that is read until there are enough items.
pub(super) struct Scan<T, P> {
    pub(super) window: Window<P>,
    /// The number of items at which the scan ends.
    target: usize,
    /// The number of rows of the first window that the page needs only if other rows are dropped.
    spare: usize,
    items: Vec<(P, T)>,
    exhausted: bool,
}

impl<T, P: ListPosition> Scan<T, P> {
    /// Plans three scans: the page plus one row, and the next row beyond each bound. `spare` returns the number of spare rows for a number of
    /// needed rows.
    pub(super) fn plan(request: PageRequest<P>, spare: impl Fn(usize) -> usize) -> [Self; 3] {
        let (below, above) = (request.after.unwrap_or(P::TOP), request.before.unwrap_or(P::BOTTOM));
        let main = Self::new(below, above, !request.backward, request.size + 1);
        let newer = request.after.map_or_else(Self::closed, |after| Self::new(P::TOP, after.below(), false, 1));
        let older = request.before.map_or_else(Self::closed, |before| Self::new(before.above(), P::BOTTOM, true, 1));
        [main, newer, older].map(|mut scan| {
            scan.spare = spare(scan.target).min(MAX_WINDOW);
            scan.window.limit += scan.spare;
            scan
        })
    }

    fn new(below: P, above: P, newest_first: bool, target: usize) -> Self {
        let window = Window { below, above, newest_first, limit: target };
        Self { window, target, spare: 0, items: Vec::new(), exhausted: below <= above.above() }
    }

    fn closed() -> Self {
        Self::new(P::BOTTOM, P::BOTTOM, true, 0)
    }

    pub(super) fn is_open(&self) -> bool {
        !self.exhausted && self.items.len() < self.target
    }

    /// Whether an item was found, or the unread part of the window may contain one.
    pub(super) fn may_find(&self) -> bool {
        !self.items.is_empty() || self.is_open()
    }

    /// Records whether the window has no rows after these, and removes the spare rows if no rows are dropped.
    pub(super) fn receive(&mut self, rows: &mut Vec<Row<P>>, drops_rows: bool) {
        let needed = self.window.limit - std::mem::take(&mut self.spare);
        self.exhausted = rows.len() < self.window.limit;
        if !drops_rows && rows.len() > needed {
            rows.truncate(needed);
            self.exhausted = false;
        }
    }

    /// Takes the items of `rows`, and moves the window past the last row. Returns the number of dropped rows.
    pub(super) fn take(&mut self, rows: &[Row<P>], items: &mut impl Iterator<Item = Option<T>>) -> usize {
        let before = self.items.len();
        for row in rows {
            if let Some(item) = items.next().flatten() {
                self.items.push((row.position, item));
            }
        }
        if let Some(last) = rows.last() {
            let bound = if self.window.newest_first { &mut self.window.below } else { &mut self.window.above };
            *bound = last.position;
        }
        let kept = self.items.len() - before;
        // If most rows are dropped, the next window is twice as large, so that few reads suffice.
        let wider = if kept * 4 < rows.len() { self.window.limit * 2 } else { 0 };
        self.window.limit = (self.target.saturating_sub(self.items.len()) * 2).clamp(10, MAX).max(wider.min(MAX_WINDOW));
        rows.len() - kept
    }

    pub(super) fn into_page(mut self, request: PageRequest<P>, newer: bool, older: bool) -> Page<T, P> {
        let last_read = if self.window.newest_first { self.window.below } else { self.window.above };
        let unfinished = self.is_open().then_some(last_read);
        let more = self.items.len() > request.size || unfinished.is_some();
        self.items.truncate(request.size);
        if request.backward {
            self.items.reverse();
            Page { items: self.items, has_next: older, has_previous: more || newer, start: unfinished, end: None }
        } else {
            Page { items: self.items, has_next: more || older, has_previous: newer, start: None, end: unfinished }
        }
    }
}
