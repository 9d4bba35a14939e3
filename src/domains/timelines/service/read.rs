//! Reading a feed: all statuses of its sources and its owner, newest first, without an end.
//!
//! From the floor up, entries and the profiles of marked authors are read; below the floor, profiles are merged ([`below_floor`]). A page above
//! the floor takes one round trip, two with marked authors or with tags whose newest statuses are not cached; a page below takes two more with a cached
//! merge. Tags are merged over the whole window: they are neither among the entries nor in cached merges.

use super::super::feed_row::{FeedLookup, FeedRow};
use super::super::model::{CEILING, FeedPhase};
use super::super::store::{self, FeedReadResult};
use super::pending_window::{FeedWindow, PendingWindow};
use super::{below_floor, idle, merge};
use crate::app::App;
use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::Window;
use crate::db::ReadBarrier;
use crate::domains::statuses::ProfilePart;
use crate::platform::events::LogPosition;
use crate::platform::journal::Feed;
use futures_util::future::try_join_all;
use futures_util::try_join;

/// The precision of the time of the last read.
const SEEN_PRECISION: Millis = 60 * MINUTE;

/// Result of [`windows`].
pub(super) struct WindowReadResult {
    /// The former sources of each feed, whose statuses are hidden.
    pub(super) former_sources: Vec<Vec<UserId>>,
    /// Whether each feed has tags, whose statuses are by any author.
    pub(super) has_tags: Vec<bool>,
    /// The rows of each window, in its order.
    pub(super) rows: Vec<Vec<FeedRow>>,
    /// The results of the lookups, in their order.
    pub(super) lookups: Vec<Option<u64>>,
    /// The end of the log of events before the reads, if requested.
    pub(super) position: Option<LogPosition>,
}

/// Reads windows of feeds, for a request that began at `since`.
pub(super) async fn windows(
    app: &App,
    since: ReadBarrier,
    feeds: &[Feed],
    windows: &[FeedWindow],
    lookups: &[(Feed, FeedLookup)],
    with_position: bool,
) -> Result<WindowReadResult, Error> {
    let pending: Vec<(Feed, Window)> = windows.iter().map(|key| (key.feed, key.window)).collect();
    let read = store::read(app.db(), since, feeds, &pending, lookups, with_position).await?;
    let FeedReadResult { metadata, rows: entries, lookups, position } = read;
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
        tagged: Vec::new(),
    });
    let mut pending: Vec<PendingWindow> = pending.collect();
    merge_above_floor(app, since, &mut pending).await?;
    below_floor::fill(app, &mut pending).await?;
    let has_tags = metadata.iter().map(|metadata| !metadata.tags.is_empty()).collect();
    let former_sources = metadata.into_iter().map(|metadata| metadata.former_sources).collect();
    let rows = pending.into_iter().map(PendingWindow::finish).collect();
    Ok(WindowReadResult { former_sources, has_tags, rows, lookups, position })
}

/// Drops entries below the floor, and adds the statuses and reposts of marked authors above it, and the statuses of tags. One round trip for all, none
/// if no author is marked and the newest statuses of the tags are cached; one or two more if the statuses of a few tags are much newer than those of
/// the others.
async fn merge_above_floor(app: &App, since: ReadBarrier, pending: &mut [PendingWindow]) -> Result<(), Error> {
    let mut parts = Vec::new();
    for (at, window) in pending.iter_mut().enumerate() {
        let floor = window.floor();
        window.rows.retain(|row| row.position >= floor);
        let upper = window.upper();
        if floor < CEILING && upper.above.saturating_add(1) < upper.below {
            parts.extend(merge::parts_of(&window.metadata.marked, upper).map(|part| (at, part)));
        }
    }
    let windows: Vec<(UserId, ProfilePart, Window)> = parts.iter().map(|(_, window)| *window).collect();
    let of_tags = pending.iter().map(|window| merge::merge_tags(app, since, &window.metadata.tags, window.key.window));
    let (found, of_tags) = try_join!(merge::read_parts(app, &windows), try_join_all(of_tags))?;
    for ((at, _), rows) in parts.into_iter().zip(found) {
        pending[at].rows.extend(rows);
    }
    for (window, tagged) in pending.iter_mut().zip(of_tags) {
        window.add_tagged(tagged);
    }
    Ok(())
}
