//! Feeds that nobody reads. A push drops an idle feed (`push_feed.lua`); a read has it rebuilt from profiles.

use super::super::model::{CEILING, FeedPhase, max_entries};
use super::super::store::{self, MAX_STATUSES_PER_SCRIPT};
use super::{merge, sources};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::domains::statuses::service as statuses;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};

/// Records in the background that a feed is read, and has a dropped one rebuilt. Errors are ignored: a feed can be read while Redis refuses
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

/// Fills a feed from below its floor, a thousand entries in a pass; `None` when it is full or complete.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn rebuild(app: &App, feed: Feed, progress: Progress) -> Result<Option<Progress>, Error> {
    let window = app.config().home_window;
    let (state, count, marked) = store::extent(app.db(), feed).await?;
    let missing = window.saturating_sub(count);
    let below = match state.phase {
        FeedPhase::Dropped => return Ok(None),
        FeedPhase::Active if state.floor == 0 || missing == 0 => return Ok(None),
        FeedPhase::Active => state.floor,
        FeedPhase::Rebuilding => CEILING,
    };
    let (mut authors, edges) = sources::authors(app, feed).await?;
    authors.retain(|author| !marked.contains(author));
    let limit = missing.clamp(1, MAX_STATUSES_PER_SCRIPT);
    let rows = merge::merge_profiles(app, &authors, Window { below, above: 0, newest_first: true, limit }).await?;
    let floor = rows.last().filter(|_| rows.len() == limit).map_or(0, |row| row.position);
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    if store::lower_floor(app.db(), feed, edges, floor, window, &ids).await? {
        remove_deleted(app, &[feed], &ids).await?;
    }
    Ok(Some(progress))
}

/// Has a feed filled if it lacks more than a tenth of its window although there are older statuses.
pub(super) async fn rebuild_if_sparse(app: &App, feed: Feed) -> Result<(), Error> {
    let (state, count, _) = store::extent(app.db(), feed).await?;
    let window = app.config().home_window;
    if state.phase == FeedPhase::Active && state.floor > 0 && count + window / 10 < window {
        journal::enqueue(app, Task::Backfill { feed }).await?;
    }
    Ok(())
}

/// Removes deleted statuses from feeds. A deletion may have passed a feed before a concurrent push added the status.
pub(super) async fn remove_deleted(app: &App, feeds: &[Feed], ids: &[StatusId]) -> Result<(), Error> {
    let there = statuses::exist(app, ids).await?;
    let deleted: Vec<StatusId> = ids.iter().zip(there).filter(|(_, there)| !there).map(|(id, _)| *id).collect();
    store::remove(app.db(), feeds, &deleted).await
}

/// An author's newest statuses down to a floor, in chunks for one script each.
pub(super) struct LatestStatuses {
    author: UserId,
    below: u64,
    floor: u64,
    left: usize,
}

impl LatestStatuses {
    /// All statuses that a feed with this floor must hold. For an author with more statuses than a feed keeps that is one more than a feed
    /// keeps, so that the feed is cut and its floor raised above the rest.
    pub(super) fn for_feeds(app: &App, author: UserId, floor: u64) -> Self {
        Self { author, below: u64::MAX, floor, left: max_entries(app.config().home_window) + 1 }
    }

    /// The next chunk, newest first; `None` at the end.
    pub(super) async fn next(&mut self, app: &App) -> Result<Option<Vec<StatusId>>, Error> {
        let limit = self.left.min(MAX_STATUSES_PER_SCRIPT);
        if limit == 0 {
            return Ok(None);
        }
        let window = Window { below: self.below, above: self.floor.saturating_sub(1), newest_first: true, limit };
        let rows = statuses::windows(app, &[(self.author, window)]).await?.pop().unwrap_or_default();
        let Some(last) = rows.last() else { return Ok(None) };
        self.below = last.position;
        self.left = if rows.len() < limit { 0 } else { self.left - limit };
        Ok(Some(rows.iter().map(|row| StatusId(row.member)).collect()))
    }
}
