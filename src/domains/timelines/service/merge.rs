//! Merging the profiles of many authors, and the timelines of many tags.

use super::super::feed_row::FeedRow;
use super::pending_window::keep_first;
use super::source_rows::{PARTS, entry};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId};
use crate::base::page::{Row, Window};
use crate::db::ReadBarrier;
use crate::domains::statuses::{ProfilePart, service as statuses};
use crate::domains::tags::TagsOfSet;
use crate::domains::tags::service as tags;
use std::future::Future;

/// Maximum number of lists that one pipeline reads. Decoding more at once would delay other requests on the same thread.
const PIPELINE_SIZE: usize = 1_000;

/// A list that feeds are merged from.
trait MergedList: Clone + Send + Sync {
    /// Reads windows of lists, in the order of `windows`. One pipeline.
    fn read(app: &App, windows: Vec<(Self, Window)>) -> impl Future<Output = Result<Vec<Vec<FeedRow>>, Error>> + Send;
}

/// The statuses of an account, or its reposts.
impl MergedList for (UserId, ProfilePart) {
    async fn read(app: &App, windows: Vec<(Self, Window)>) -> Result<Vec<Vec<FeedRow>>, Error> {
        let windows: Vec<_> = windows.into_iter().map(|((author, part), window)| (author, part, window)).collect();
        read_parts(app, &windows).await
    }
}

/// The timeline of a tag, for a request that began at a time.
impl MergedList for (TagId, ReadBarrier) {
    async fn read(app: &App, windows: Vec<(Self, Window)>) -> Result<Vec<Vec<FeedRow>>, Error> {
        let Some(((_, since), _)) = windows.first() else { return Ok(Vec::new()) };
        let since = *since;
        let windows: Vec<(TagId, Window)> = windows.into_iter().map(|((tag, _), window)| (tag, window)).collect();
        let found = tags::windows(app, since, &windows).await?;
        Ok(found.into_iter().map(|rows| rows.iter().map(|row| FeedRow::of_status(row.member)).collect()).collect())
    }
}

/// A list, and the part of its window that is not read yet.
struct ListReader<L> {
    list: L,
    window: Window,
    has_more: bool,
}

/// A window of the statuses and one of the reposts of each account.
pub(super) fn parts_of(authors: &[UserId], window: Window) -> impl Iterator<Item = (UserId, ProfilePart, Window)> {
    authors.iter().flat_map(move |author| PARTS.map(|part| (*author, part, window)))
}

/// Reads windows of statuses and reposts, in their order. One pipeline; no round trip if `windows` is empty.
pub(super) async fn read_parts(app: &App, windows: &[(UserId, ProfilePart, Window)]) -> Result<Vec<Vec<FeedRow>>, Error> {
    if windows.is_empty() {
        return Ok(Vec::new());
    }
    let found = statuses::part_windows(app, windows).await?;
    let rows = |((author, part, _), rows): (&(UserId, ProfilePart, Window), Vec<Row>)| {
        rows.into_iter().map(|row| entry(*author, *part, row)).collect()
    };
    Ok(windows.iter().zip(found).map(rows).collect())
}

/// The rows of a window over all statuses of `authors`, in the window's order, at most its limit; with `has_reposts` also over their reposts.
///
/// Reads a few rows of each author, then more of those authors whose next rows may still belong to the result. Usually two rounds; at most
/// six for 1,000 rows. A round sends one command for each list of an author, in pipelines of 1,000.
pub(super) async fn merge_profiles(
    app: &App,
    authors: &[UserId],
    has_reposts: bool,
    window: Window,
) -> Result<Vec<FeedRow>, Error> {
    let parts = if has_reposts { &PARTS[..] } else { &PARTS[..1] };
    let lists: Vec<(UserId, ProfilePart)> = parts.iter().flat_map(|part| authors.iter().map(|author| (*author, *part))).collect();
    merge(app, &lists, window).await
}

/// The rows of a window over all statuses of tags, as [`merge_profiles`], for a request that began at `since`. No round trip without tags, or if their newest
/// statuses are cached.
pub(super) async fn merge_tags(app: &App, since: ReadBarrier, tags: &TagsOfSet, window: Window) -> Result<Vec<FeedRow>, Error> {
    let (cached, others) = tags::merge_cached(app, since, tags, &window);
    let lists: Vec<(TagId, ReadBarrier)> = others.into_iter().map(|tag| (tag, since)).collect();
    let mut rows = merge(app, &lists, window).await?;
    rows.extend(cached.into_iter().map(|status| FeedRow::of_status(status.0)));
    keep_first(&mut rows, &window);
    Ok(rows)
}

async fn merge<L: MergedList>(app: &App, lists: &[L], window: Window) -> Result<Vec<FeedRow>, Error> {
    let mut streams: Vec<ListReader<L>> =
        lists.iter().map(|list| ListReader { list: list.clone(), window, has_more: true }).collect();
    let mut rows_per_list = (2 * window.limit / streams.len().max(1) + 2).min(window.limit);
    let mut rows: Vec<FeedRow> = Vec::new();
    loop {
        let open: Vec<&mut ListReader<L>> = streams.iter_mut().filter(|stream| stream.has_more).collect();
        if open.is_empty() || rows_per_list == 0 {
            return Ok(rows);
        }
        let windows: Vec<(L, Window)> =
            open.iter().map(|stream| (stream.list.clone(), Window { limit: rows_per_list, ..stream.window })).collect();
        let mut open = open.into_iter();
        for windows in windows.chunks(PIPELINE_SIZE) {
            for (found, stream) in L::read(app, windows.to_vec()).await?.into_iter().zip(open.by_ref()) {
                stream.advance(&found, rows_per_list);
                rows.extend(found);
            }
        }
        keep_first(&mut rows, &window);
        if let Some(last) = rows.last().filter(|_| rows.len() == window.limit) {
            streams.iter_mut().for_each(|stream| stream.stop_at(last.position));
        }
        rows_per_list = (rows_per_list * 4).min(window.limit);
    }
}

impl<L> ListReader<L> {
    /// Moves the window past rows that were read with this limit.
    fn advance(&mut self, rows: &[FeedRow], limit: usize) {
        self.has_more = rows.len() == limit;
        if let Some(last) = rows.last() {
            let bound = if self.window.newest_first { &mut self.window.below } else { &mut self.window.above };
            *bound = last.position;
        }
    }

    /// Enough rows were found up to this position: rows beyond it do not count.
    fn stop_at(&mut self, position: u64) {
        if self.window.newest_first {
            self.has_more &= self.window.below > position;
        } else {
            self.has_more &= self.window.above < position;
        }
    }
}
