//! What all connections share.

use crate::base::page::{Cursors, ListId, Page};
use async_graphql::SimpleObject;

/// Where a page stands in its list. Both flags tell the truth, whichever way one pages.
#[derive(Clone, Debug, SimpleObject)]
pub struct PageInfo {
    /// Whether there is more after (older than) this page.
    has_next_page: bool,
    /// Whether there is more before (newer than) this page.
    has_previous_page: bool,
    /// The cursor of the first edge; null on an empty page.
    start_cursor: Option<String>,
    /// The cursor of the last edge: the next page's `after`. Null on an empty page.
    end_cursor: Option<String>,
}

impl PageInfo {
    /// Of a page whose cursors are made.
    pub const fn new(next: bool, previous: bool, start: Option<String>, end: Option<String>) -> Self {
        Self { has_next_page: next, has_previous_page: previous, start_cursor: start, end_cursor: end }
    }
}

/// The `pageInfo` of a page of `list`.
pub fn page_info<T>(page: &Page<T>, cursors: &Cursors, list: ListId) -> PageInfo {
    let cursor = |edge: Option<&(u64, T)>| edge.map(|(position, _)| cursors.encode(list, *position));
    PageInfo {
        has_next_page: page.has_next,
        has_previous_page: page.has_previous,
        start_cursor: cursor(page.items.first()),
        end_cursor: cursor(page.items.last()),
    }
}
