//! Feeds that nobody reads, and feeds that have room: dropping is the push's part (`push_feed.lua`), here they are read and filled
//! again.

use super::super::model::{CEILING, Kept, most};
use super::super::store::{self, MERGE};
use super::{merge, read};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::domains::statuses::service as statuses;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Feed, Progress, Task};

/// Notes that a feed is read, for which nobody waits; one that was dropped is filled again. Where the store takes no writes, it
/// is read all the same.
pub(super) fn touch(app: &App, feed: Feed) {
    let own = app.clone();
    app.spawn(async move {
        if let Err(error) = open(&own, feed).await {
            tracing::debug!(%error, "it was not noted that a feed is read");
        }
    });
}

async fn open(app: &App, feed: Feed) -> Result<(), Error> {
    let lease = journal::begin(app, Task::Refill { feed }).await?;
    if store::touch(app.db(), feed, app.now()).await? {
        lease.hand_over(app, Progress::default()).await;
    } else {
        lease.ack(app);
    }
    Ok(())
}

/// Fills a feed from below its floor: a thousand entries a pass; `None` when it is full, or holds everything.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn refill(app: &App, feed: Feed, progress: Progress) -> Result<Option<Progress>, Error> {
    let window = app.config().home_window;
    let (state, count, marked) = store::extent(app.db(), feed).await?;
    let room = window.saturating_sub(count);
    let below = match state.kept {
        Kept::Dropped => return Ok(None),
        Kept::Yes if state.floor == 0 || room == 0 => return Ok(None),
        Kept::Yes => state.floor,
        Kept::Opening => CEILING,
    };
    let (mut authors, edges) = read::authors(app, feed).await?;
    authors.retain(|author| !marked.contains(author));
    let limit = room.clamp(1, MERGE);
    let rows = merge::gather(app, &authors, Window { below, above: 0, newest_first: true, limit }).await?;
    let floor = rows.last().filter(|_| rows.len() == limit).map_or(0, |row| row.position);
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    if store::lower(app.db(), feed, edges, floor, window, &ids).await? {
        remove_deleted(app, &[feed], &ids).await?;
    }
    Ok(Some(progress))
}

/// Has a feed filled up if much of it is empty that need not be.
pub(super) async fn refill_if_empty(app: &App, feed: Feed) -> Result<(), Error> {
    let (state, count, _) = store::extent(app.db(), feed).await?;
    let window = app.config().home_window;
    if state.kept == Kept::Yes && state.floor > 0 && count + window / 10 < window {
        journal::enqueue(app, Task::Refill { feed }).await?;
    }
    Ok(())
}

/// Takes out of feeds what was deleted while it was put in: it may have been swept before it came.
pub(super) async fn remove_deleted(app: &App, feeds: &[Feed], ids: &[StatusId]) -> Result<(), Error> {
    let there = statuses::exist(app, ids).await?;
    let deleted: Vec<StatusId> = ids.iter().zip(there).filter(|(_, there)| !there).map(|(id, _)| *id).collect();
    store::remove(app.db(), feeds, &deleted).await
}

/// An author's newest statuses down to a floor, in chunks that one script can take.
pub(super) struct Latest {
    author: UserId,
    below: u64,
    floor: u64,
    left: usize,
}

impl Latest {
    /// All that a feed with this floor must hold. Of an author who has said more than any feed keeps that is one too many, so that the
    /// feed is cut and its floor raised: the rest is below it then.
    pub(super) fn for_feeds(app: &App, author: UserId, floor: u64) -> Self {
        Self { author, below: u64::MAX, floor, left: most(app.config().home_window) + 1 }
    }

    /// The next chunk, newest first; `None` at the end.
    pub(super) async fn next(&mut self, app: &App) -> Result<Option<Vec<StatusId>>, Error> {
        let limit = self.left.min(MERGE);
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
