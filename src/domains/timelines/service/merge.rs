//! Gathering statuses from many profiles at once.

use super::read::sort;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::domains::statuses::service as statuses;

/// Profiles that are read in one pipeline: what is decoded at once delays other requests of the same thread.
const AT_ONCE: usize = 1_000;

/// One author's statuses, as far as they were read.
struct Stream {
    author: UserId,
    window: Window,
    open: bool,
}

/// The rows of a window over all statuses of `authors`, in the window's order and at most its limit.
///
/// Reads a few of each author, then more of those whose last one may not have been the last that counts. Two rounds for most, of a
/// command an author; the last few of thousands of authors come in three or four. A pipeline for each thousand authors of a round.
pub(super) async fn gather(app: &App, authors: &[UserId], window: Window) -> Result<Vec<Row>, Error> {
    let mut streams: Vec<Stream> = authors.iter().map(|author| Stream { author: *author, window, open: true }).collect();
    let mut ask = (2 * window.limit / authors.len().max(1) + 2).min(window.limit);
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let open: Vec<&mut Stream> = streams.iter_mut().filter(|stream| stream.open).collect();
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

impl Stream {
    fn read(&mut self, rows: &[Row], asked: usize) {
        self.open = rows.len() == asked;
        if let Some(last) = rows.last() {
            let bound = if self.window.newest_first { &mut self.window.below } else { &mut self.window.above };
            *bound = last.position;
        }
    }

    /// Enough rows were found up to this place: what lies beyond does not count.
    fn stop_at(&mut self, position: u64) {
        if self.window.newest_first {
            self.open &= self.window.below > position;
        } else {
            self.open &= self.window.above < position;
        }
    }
}
