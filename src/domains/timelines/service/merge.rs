//! Merging the profiles of many authors.

use super::pending_window::sort;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::domains::statuses::service as statuses;

/// Maximum number of profiles that one pipeline reads. Decoding more at once would delay other requests on the same thread.
const PIPELINE_SIZE: usize = 1_000;

/// The position up to which one author's profile has been read.
struct ProfileReader {
    author: UserId,
    window: Window,
    has_more: bool,
}

/// The rows of a window over all statuses of `authors`, in the window's order, at most its limit.
///
/// Reads a few rows of each author, then more of those authors whose next rows may still belong to the result. Usually two rounds,
/// at most four. A round sends one command per author, in pipelines of 1,000.
pub(super) async fn merge_profiles(app: &App, authors: &[UserId], window: Window) -> Result<Vec<Row>, Error> {
    let mut streams: Vec<ProfileReader> =
        authors.iter().map(|author| ProfileReader { author: *author, window, has_more: true }).collect();
    let mut rows_per_author = (2 * window.limit / authors.len().max(1) + 2).min(window.limit);
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let open: Vec<&mut ProfileReader> = streams.iter_mut().filter(|stream| stream.has_more).collect();
        if open.is_empty() || rows_per_author == 0 {
            return Ok(rows);
        }
        let windows: Vec<(UserId, Window)> =
            open.iter().map(|stream| (stream.author, Window { limit: rows_per_author, ..stream.window })).collect();
        let mut open = open.into_iter();
        for windows in windows.chunks(PIPELINE_SIZE) {
            for (found, stream) in statuses::windows(app, windows).await?.into_iter().zip(open.by_ref()) {
                stream.read(&found, rows_per_author);
                rows.extend(found);
            }
        }
        sort(&mut rows, window.newest_first);
        rows.truncate(window.limit);
        if let Some(last) = rows.last().filter(|_| rows.len() == window.limit) {
            streams.iter_mut().for_each(|stream| stream.stop_at(last.position));
        }
        rows_per_author = (rows_per_author * 4).min(window.limit);
    }
}

impl ProfileReader {
    fn read(&mut self, rows: &[Row], limit: usize) {
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
