//! Reading a feed: all statuses of its sources and its owner, newest first, without an end.
//!
//! From the floor up, entries and the profiles of marked authors are read; below the floor, profiles are merged ([`below_floor`]). A page above
//! the floor takes one round trip, two with marked authors; a page below takes two more with a cached merge.

use super::super::model::{CEILING, FeedPhase};
use super::super::store::{self, FeedsRead};
use super::pending_window::{FeedWindow, PendingWindow};
use super::{below_floor, idle};
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::domains::statuses::service as statuses;
use crate::platform::events::LogPosition;
use crate::platform::journal::Feed;

/// The precision of the time of the last read.
const SEEN_PRECISION: Millis = 60 * MINUTE;

/// Result of [`windows`].
pub(super) struct WindowsRead {
    /// The former sources of each feed, whose statuses are hidden.
    pub(super) former_sources: Vec<Vec<Row>>,
    /// The rows of each window, in its order.
    pub(super) rows: Vec<Vec<Row>>,
    /// The end of the log of events before the reads, if requested.
    pub(super) position: Option<LogPosition>,
}

/// Reads windows of feeds.
pub(super) async fn windows(
    app: &App,
    feeds: &[Feed],
    windows: &[FeedWindow],
    with_position: bool,
) -> Result<WindowsRead, Error> {
    let pending: Vec<(Feed, Window)> = windows.iter().map(|key| (key.feed, key.window)).collect();
    let FeedsRead { metadata, rows: entries, position } = store::read(app.db(), feeds, &pending, with_position).await?;
    for (feed, metadata) in feeds.iter().zip(&metadata) {
        if metadata.state.phase == FeedPhase::Dropped || metadata.state.last_read_at + SEEN_PRECISION <= app.now() {
            idle::touch(app, *feed);
        }
    }
    let metadata_of = |feed| feeds.iter().position(|it| *it == feed).and_then(|at| metadata.get(at)).cloned().unwrap_or_default();
    let pending = windows.iter().zip(entries).map(|(key, entries)| PendingWindow {
        key: *key,
        metadata: metadata_of(key.feed),
        rows: entries,
    });
    let mut pending: Vec<PendingWindow> = pending.collect();
    above_the_floor(app, &mut pending).await?;
    below_floor::fill(app, &mut pending).await?;
    let former_sources = metadata.into_iter().map(|metadata| metadata.former_sources.into_iter().map(row_of).collect()).collect();
    Ok(WindowsRead { former_sources, rows: pending.into_iter().map(|window| window.rows).collect(), position })
}

const fn row_of(user: UserId) -> Row {
    Row { member: user.0, position: user.0 }
}

/// Drops entries below the floor, and adds the statuses of marked authors above it. One round trip for all, none without marks.
async fn above_the_floor(app: &App, pending: &mut [PendingWindow]) -> Result<(), Error> {
    let mut wanted = Vec::new();
    for (at, window) in pending.iter_mut().enumerate() {
        let floor = window.floor();
        window.rows.retain(|row| row.position >= floor);
        let upper = window.upper();
        if floor < CEILING && upper.above.saturating_add(1) < upper.below {
            wanted.extend(window.metadata.marked.iter().map(|author| (at, (*author, upper))));
        }
    }
    let windows: Vec<(UserId, Window)> = wanted.iter().map(|(_, window)| *window).collect();
    let found = statuses::windows(app, &windows).await?;
    for ((at, _), rows) in wanted.into_iter().zip(found) {
        pending[at].rows.extend(rows);
    }
    for window in pending {
        window.add([]);
    }
    Ok(())
}
