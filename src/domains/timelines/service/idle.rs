//! Feeds that nobody reads. A push drops an idle feed (`push_feed.lua`); a read enqueues its rebuild from profiles.

use super::super::model::{CEILING, FeedPhase};
use super::super::store::{self, MAX_STATUSES_PER_SCRIPT, MergedEntries};
use super::source_rows::remove_deleted;
use super::{merge, sources};
use crate::app::App;
use crate::base::error::Error;
use crate::base::page::Window;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};

/// Records in the background that a feed is read, and enqueues the rebuild of a dropped one. Errors are ignored: a feed can be read while Redis refuses
/// writes.
pub(super) fn touch(app: &App, feed: Feed) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = touch_and_rebuild(&own, feed).await {
            tracing::debug!(%error, "the read of a feed was not recorded");
        }
    });
}

async fn touch_and_rebuild(app: &App, feed: Feed) -> Result<(), Error> {
    let lease = journal::begin(app, Task::Backfill { feed }).await?;
    if store::touch(app.db(), feed, app.now()).await? {
        lease.hand_over(app, Progress::default()).await;
    } else {
        lease.ack(app);
    }
    Ok(())
}

/// Adds the entries below its floor to a feed, at most a thousand in a pass. Returns `None` when the feed is full, complete or dropped again.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn rebuild(app: &App, feed: Feed, progress: Progress) -> Result<Option<Progress>, Error> {
    let window = app.config().home_window;
    let (state, count, marked) = store::read_extent(app.db(), feed).await?;
    let missing = window.saturating_sub(count);
    let below = match state.phase {
        FeedPhase::Dropped => return Ok(None),
        FeedPhase::Active if state.floor == 0 || missing == 0 => return Ok(None),
        FeedPhase::Active => state.floor,
        FeedPhase::Rebuilding => CEILING,
    };
    let (mut authors, edges) = sources::authors_and_version(app, feed).await?;
    authors.retain(|author| !marked.contains(author));
    let limit = missing.clamp(1, MAX_STATUSES_PER_SCRIPT);
    let all = Window { below, above: 0, newest_first: true, limit };
    let rows = merge::merge_profiles(app, &authors, state.has_reposts, all).await?;
    let floor = rows.last().filter(|_| rows.len() == limit).map_or(0, |row| row.position);
    let merged = MergedEntries { edges, has_reposts: state.has_reposts, rows: &rows };
    if store::lower_floor(app.db(), feed, merged, floor, window).await? {
        remove_deleted(app, &[feed], &rows).await?;
    }
    Ok(Some(progress))
}

/// Enqueues the filling of a feed that lacks more than a tenth of its window although there are older statuses.
pub(super) async fn rebuild_if_sparse(app: &App, feed: Feed) -> Result<(), Error> {
    let (state, count, _) = store::read_extent(app.db(), feed).await?;
    let window = app.config().home_window;
    if state.phase == FeedPhase::Active && state.floor > 0 && count + window / 10 < window {
        journal::enqueue(app, Task::Backfill { feed }).await?;
    }
    Ok(())
}
