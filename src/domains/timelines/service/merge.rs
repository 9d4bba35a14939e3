//! Merging the profiles of many authors.

use super::pending_window::sort;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::domains::statuses::service as statuses;

/// Profiles that are read in one pipeline. Decoding more at once would delay other requests on the same thread.
const AT_ONCE: usize = 1_000;

/// How far one author's profile has been read.
struct ProfileReader {
    author: UserId,
    window: Window,
    open: bool,
}

/// The rows of a window over all statuses of `authors`, in the window's order, at most its limit.
///
/// Reads a few rows of each author, then more of those authors whose next rows may still belong to the result. Two rounds for most authors,
/// with one command for each; up to four for the last few of thousands. A pipeline for each thousand authors of a round.
pub(super) async fn merge_profiles(app: &App, authors: &[UserId], window: Window) -> Result<Vec<Row>, Error> {
    let mut streams: Vec<ProfileReader> =
        authors.iter().map(|author| ProfileReader { author: *author, window, open: true }).collect();
    let mut ask = (2 * window.limit / authors.len().max(1) + 2).min(window.limit);
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let open: Vec<&mut ProfileReader> = streams.iter_mut().filter(|stream| stream.open).collect();
        if open.is_empty() || ask == 0 {
            return Ok(rows);
        }
        let windows: Vec<(UserId, Window)> =
            open.iter().map(|stream| (stream.author, Window { limit: ask, ..stream.window })).collect();
        let mut open = open.into_iter();
        for windows in windows.chunks(AT_ONCE) {
            for (found, stream) in statuses::windows(app, windows).await?.into_iter().zip(open.by_ref()) {
                stream.read(&found, ask);
                rows.extend(found);
            }
        }
        sort(&mut rows, window.newest_first);
        rows.truncate(window.limit);
        if let Some(last) = rows.last().filter(|_| rows.len() == window.limit) {
            streams.iter_mut().for_each(|stream| stream.stop_at(last.position));
        }
        ask = (ask * 4).min(window.limit);
    }
}

impl ProfileReader {
    fn read(&mut self, rows: &[Row], asked: usize) {
        self.open = rows.len() == asked;
        if let Some(last) = rows.last() {
            let bound = if self.window.newest_first { &mut self.window.below } else { &mut self.window.above };
            *bound = last.position;
        }
    }

    /// Enough rows were found up to this position: rows beyond it do not count.
    fn stop_at(&mut self, position: u64) {
        if self.window.newest_first {
            self.open &= self.window.below > position;
        } else {
            self.open &= self.window.above < position;
        }
    }
}
